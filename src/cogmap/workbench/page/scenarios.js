// Scenarios: rows with a name, kept in the session and laid side by side.
import { html, useSignal } from "./vendor/preact.js";
import { Input, Scroll } from "./parts.js";
import { ask, useAnswer } from "./store.js";
import { cell, percent, when } from "./words.js";

function Keep({ store, row, known, onKept }) {
  const name = useSignal("");
  const note = useSignal("");
  const keep = async (event) => {
    event.preventDefault();
    const values = { ...row.base.value.values, ...row.changed.value };
    const got = await ask(store, "save_scenario", { name: name.value, note: note.value, values, replace: known.includes(name.value) });
    if (!got) return;
    name.value = "";
    note.value = "";
    store.said.value = "The scenario is kept.";
    onKept();
  };
  return html`<form class="keep" onSubmit=${keep}>
    <${Input} label="Keep this row as" value=${name.value} required onInput=${(text) => (name.value = text)} />
    <${Input} label="Note" value=${note.value} onInput=${(text) => (note.value = text)} />
    <button type="submit">${known.includes(name.value) ? "Replace" : "Keep"}</button>
  </form>`;
}

function SideBySide({ scenarios, columns }) {
  const all = useSignal(false);
  const shown = columns.filter((column) => all.value || column.differs);
  const line = (name, value, kind = "") => html`<tr key=${name} class=${kind}><th scope="row">${name}</th>
    ${scenarios.map((one) => html`<td key=${one.name}>${value(one)}</td>`)}</tr>`;
  const classes = scenarios[0].probabilities.map((one) => one.class);
  const probability = (one, name) => percent(one.probabilities.find((entry) => entry.class === name)?.probability);
  return html`<${Scroll} label="Scenarios side by side"><table>
      <thead><tr><th scope="col">scenario</th>${scenarios.map((one) => html`<th scope="col" key=${one.name}>${one.name}</th>`)}</tr></thead>
      <tbody>${line("class", (one) => one.predicted, "strong")}
        ${classes.map((name) => line(`probability of ${name}`, (one) => probability(one, name)))}
        ${shown.map((column) => line(column.name, (one) => cell(one.values[column.name]), column.differs ? "differs" : ""))}</tbody>
    </table></${Scroll}>
    <label class="check"><input type="checkbox" checked=${all.value} onChange=${(event) => (all.value = event.currentTarget.checked)} />Columns that do not differ, too</label>`;
}

export function Scenarios({ store, row }) {
  const asked = useSignal(0);
  const kept = useAnswer(store, "scenarios", {}, asked.value);
  const names = (kept.value?.scenarios ?? []).filter((one) => one.kind === "row").map((one) => one.name);
  const remove = async (name) => {
    if (await ask(store, "remove_scenario", { name })) asked.value += 1;
  };
  const open = (one) => row.begin(null, one.values);
  return html`<section class="scenarios"><h3>Scenarios</h3>
    <${Keep} store=${store} row=${row} known=${names} onKept=${() => (asked.value += 1)} />
    <ul class="kept">${(kept.value?.scenarios ?? []).filter((one) => one.kind === "row").map((one) => html`<li key=${one.name}>
      <span><strong>${one.name}</strong> <span class="muted">${[one.note, when(one.when)].filter(Boolean).join("; ")}</span></span>
      <button type="button" class="small" onClick=${() => open(one)} aria-label=${`Open ${one.name}`}>Open</button>
      <button type="button" class="small" onClick=${() => remove(one.name)} aria-label=${`Remove ${one.name}`}>Remove</button></li>`)}</ul>
    ${names.length > 0 && html`<${Compared} store=${store} names=${names} stamp=${`${asked.value} ${store.model.value}`} />`}
  </section>`;
}

function Compared({ store, names, stamp }) {
  const answer = useAnswer(store, "compare_scenarios", { names }, stamp);
  const { scenarios = [], columns = [] } = answer.value ?? {};
  return scenarios.length ? html`<${SideBySide} scenarios=${scenarios} columns=${columns} />` : "";
}
