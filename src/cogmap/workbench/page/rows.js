// All rows with truth, prediction and probability; the explanation of the one that is chosen.
import { html, useEffect, useRef, useSignal } from "./vendor/preact.js";
import { Choice, Evidence, Input, Scroll, Select, Shares, Wait } from "./parts.js";
import { useAnswer } from "./store.js";
import { cell, percent } from "./words.js";

const PAGE = 50;

function Filters({ store, asked, counts }) {
  const set = (more) => (asked.value = { ...asked.value, offset: 0, ...more });
  const n = (key) => (counts ? ` (${counts[key].toLocaleString("en")})` : "");
  return html`<div class="tools" role="group" aria-label="Which rows">
    <${Choice} label="Rows" value=${asked.value.filter} onChange=${(filter) => set({ filter })}
      options=${[["all", `All${n("all")}`], ["errors", `Errors${n("errors")}`], ["uncertain", `Uncertain${n("uncertain")}`]]} />
    <${Select} label="Truth" value=${asked.value.class ?? ""} onChange=${(name) => set({ class: name || undefined })}
      options=${[["", "any class"], ...store.state.value.classes.map((name) => [name, name])]} />
    <${Select} label="Predicted by" value=${asked.value.by ?? ""} onChange=${(by) => set({ by: by || undefined })}
      options=${[["", "models that did not see the row, if measured"], ["model", "the model in use"]]} />
    <${Input} label="Search" type="search" value=${asked.value.search ?? ""} onInput=${(text) => set({ search: text || undefined })} />
  </div>`;
}

function Heading({ asked, name, text, kind = "" }) {
  const on = asked.value.sort === name;
  const way = on ? (asked.value.descending ? "descending" : "ascending") : "none";
  const sort = () => (asked.value = { ...asked.value, offset: 0, sort: name, descending: on && !asked.value.descending });
  return html`<th scope="col" class=${kind} aria-sort=${way}><button type="button" class="link" onClick=${sort}>${text}${on ? (asked.value.descending ? " ↓" : " ↑") : ""}</button></th>`;
}

function Table({ store, asked, got }) {
  const pick = (row) => (store.row.value = row);
  return html`<${Scroll} label="Rows" tall><table class="rows">
    <thead><tr><${Heading} asked=${asked} name="row" text="row" /><${Heading} asked=${asked} name="truth" text="truth" />
      <${Heading} asked=${asked} name="predicted" text="predicted" /><${Heading} asked=${asked} name="probability" text="probability" kind="number" />
      ${got.columns.map((name) => html`<${Heading} key=${name} asked=${asked} name=${name} text=${name} />`)}</tr></thead>
    <tbody>${got.rows.map((one) => html`<tr key=${one.row} class=${`${one.right ? "" : "error"}${one.row === store.row.value ? " chosen" : ""}`} onClick=${() => pick(one.row)}>
      <th scope="row"><button type="button" class="link" onClick=${() => pick(one.row)} aria-label=${`Explain row ${one.row}`}>${one.row}</button></th>
      <td>${one.truth}</td><td>${one.predicted}${one.right ? "" : html` <span class="badge wrong">wrong</span>`}</td>
      <td class="number">${percent(one.probability)}</td>${one.values.map((value, k) => html`<td key=${k} class=${typeof value === "number" ? "number" : ""}>${cell(value)}</td>`)}</tr>`)}</tbody>
  </table></${Scroll}>`;
}

function Pager({ asked, got }) {
  const last = Math.min(got.offset + got.rows.length, got.total);
  const go = (offset) => (asked.value = { ...asked.value, offset });
  return html`<p class="pager"><button type="button" disabled=${got.offset === 0} onClick=${() => go(Math.max(0, got.offset - PAGE))}>Previous</button>
    <span role="status">${got.total ? `${got.offset + 1} to ${last} of ${got.total.toLocaleString("en")}` : "No row"}, predicted by ${got.by === "unseen" ? "models that did not see the row" : "the model in use"}</span>
    <button type="button" disabled=${last >= got.total} onClick=${() => go(got.offset + PAGE)}>Next</button></p>`;
}

function Explained({ store }) {
  const row = store.row.value;
  const answer = useAnswer(store, "explain", { row }, store.model.value);
  const heading = useRef(null);
  useEffect(() => heading.current?.scrollIntoView({ block: "nearest" }), [answer.value]);
  const got = answer.value;
  if (!got) return html`<${Wait} text="Explaining …" />`;
  return html`<h3 ref=${heading}>Row ${row}${got.truth !== null && `, truly ${got.truth}`}</h3>
    <${Shares} label="Probabilities of the classes" items=${got.probabilities.map((one) => ({ name: one.class, share: one.probability, strong: one.class === got.predicted }))} />
    ${got.unseen && html`<p>By models that did not see it: ${got.unseen.predicted}, ${percent(got.unseen.probability)}.</p>`}
    <p>${got.text}</p>
    ${got.notes.map((note) => html`<p class="note" key=${note}>${note}</p>`)}
    <${Evidence} evidence=${got.evidence} />
    <button type="button" class="main" onClick=${() => (store.view.value = "whatif")}>What if this row were different?</button>`;
}

export function Rows({ store }) {
  const asked = useSignal({ filter: "all", sort: "row", descending: false, offset: 0, limit: PAGE });
  const answer = useAnswer(store, "rows", asked.value, store.stamp.value);
  const got = answer.value;
  return html`<div class="explore"><div class="stage rowstage"><${Filters} store=${store} asked=${asked} counts=${got?.counts} />
      ${got ? html`<${Table} store=${store} asked=${asked} got=${got} /><${Pager} asked=${asked} got=${got} />` : html`<${Wait} />`}</div>
    <aside class="side" aria-live="polite"><section class="panel">${store.row.value === null ? html`<h3>No row chosen</h3><p class="muted">Choose a row to see what speaks for its class.</p>` : html`<${Explained} store=${store} />`}</section></aside>
  </div>`;
}
