// What leaves the workbench: files in the folder that it was started in.
import { html, useSignal } from "./vendor/preact.js";
import { Input, Wait } from "./parts.js";
import { change, useAnswer } from "./store.js";
import { bytes } from "./words.js";

const KINDS = [
  ["model", "The model", "with what is stated, to predict with and to open again", ".cogmap", [".cogmap"]],
  ["knowledge", "The statements", "who states what and why, as a text that can be edited", ".toml", [".toml", ".json"]],
  ["report", "The report", "a page about the model for others to read; takes as long as some fits", ".html", [".html"]],
  ["history", "The history", "every change with its reason and what it cost, as Markdown", ".md", [".md"]],
  ["scenarios", "The scenarios", "with the values of their columns", ".json", [".json"]],
  ["map", "The learned map", "edges (.csv), matrix (.matrix.csv), Gephi and yEd (.graphml), JSON", ".graphml", [".csv", ".matrix.csv", ".graphml", ".json"]],
];

function Export({ store, what, title, text, suffix, suffixes, onWritten }) {
  const file = useSignal(`${store.state.value.title}${what === "model" ? "-stated" : what === "map" ? "" : `-${what}`}${suffix}`);
  const wrote = useSignal(null);
  const wrong = useSignal(null);
  const busy = useSignal(false);
  const write = async (replace) => {
    busy.value = true;
    try {
      wrote.value = await store.call("export", { what, file: file.value, replace });
      wrong.value = null;
      onWritten();
    } catch (error) {
      wrong.value = error.message;
    }
    busy.value = false;
  };
  const submit = (event) => {
    event.preventDefault();
    write(event.submitter?.value === "replace");
  };
  return html`<form class="export" onSubmit=${submit} aria-label=${title}>
    <div><h3>${title}</h3><p class="muted">${text}</p></div>
    <${Input} label=${`File (${suffixes.join(", ")})`} value=${file.value} required onInput=${(name) => (file.value = name)} />
    <button type="submit" disabled=${busy.value}>${busy.value ? "Writing …" : "Write"}</button>
    ${wrong.value && html`<p class="wrong" role="alert">${wrong.value} <button type="submit" value="replace" class="small">Replace it</button></p>`}
    ${wrote.value && !wrong.value && html`<div class="wrote" role="status"><p>${wrote.value.file} is in ${wrote.value.folder}, ${bytes(wrote.value.bytes)}.</p>
      ${wrote.value.text && html`<details><summary>What is in it</summary><pre tabindex="0">${wrote.value.text}</pre></details>`}</div>`}
  </form>`;
}

/** Statements that others wrote, taken in as one change. */
function TakeIn({ store }) {
  const wrong = useSignal(null);
  const author = useSignal(store.state.value.author);
  const reason = useSignal("");
  const picked = useSignal(null);
  const take = async (event) => {
    event.preventDefault();
    const [file] = picked.value?.files ?? [];
    if (!file) return;
    const form = file.name.endsWith(".json") ? "json" : "toml";
    wrong.value = await change(store, "add_knowledge", { text: await file.text(), form, author: author.value, reason: reason.value });
    if (!wrong.value) store.said.value = "The statements are in the history; the model is fitted again.";
  };
  return html`<form class="export taken" onSubmit=${take} aria-label="Take in statements"><div><h3>Take in statements</h3>
      <p class="muted">a file of statements (.toml, .json) of another expert, as one change</p></div>
    <label class="field"><span class="muted">File</span><input type="file" accept=".toml,.json" required onChange=${(event) => (picked.value = { files: [...event.currentTarget.files] })} /></label>
    <${Input} label="Who takes it in" value=${author.value} required onInput=${(text) => (author.value = text)} />
    <${Input} label="Why" value=${reason.value} required onInput=${(text) => (reason.value = text)} />
    <button type="submit">Take in and refit</button>
    ${wrong.value && html`<p class="wrong" role="alert">${wrong.value}</p>`}</form>`;
}

export function Out({ store }) {
  const asked = useSignal(0);
  const answer = useAnswer(store, "files", {}, asked.value);
  return html`<div class="page out">
    <p>Files are written to <code>${store.state.value.folder}</code>, and nowhere else.</p>
    ${KINDS.map(([what, title, text, suffix, suffixes]) => html`<${Export} key=${what} store=${store} what=${what} title=${title} text=${text} suffix=${suffix}
      suffixes=${suffixes} onWritten=${() => (asked.value += 1)} />`)}
    <${TakeIn} store=${store} />
    <section><h3>In the folder</h3>${!answer.value ? html`<${Wait} />` : html`<ul class="files">${answer.value.files.map((one) => html`<li key=${one.name}>${one.name} <span class="muted">${bytes(one.bytes)}</span></li>`)}</ul>`}</section>
  </div>`;
}
