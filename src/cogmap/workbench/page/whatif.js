// What if: a row whose columns can be changed, and what the network makes of it while they are.
import { html, useEffect, useMemo, useSignal } from "./vendor/preact.js";
import { Control } from "./controls.js";
import { Choice, Evidence, Input, Select, Shares, Wait } from "./parts.js";
import { Scenarios } from "./scenarios.js";
import { ask, newest } from "./store.js";
import { Trajectory } from "./trajectory.js";
import { cell, percent } from "./words.js";

/** Ask for what is quick while a slider moves, and for the evidence when it rests. */
async function answered(store, answer, payload, newer) {
  const quick = await ask(store, "what_if", { ...payload, parts: ["trajectory"] });
  if (!quick) return;
  answer.value = { ...quick, evidence: answer.value.evidence };
  if (newer()) return;
  const slow = await ask(store, "what_if", { ...payload, parts: ["evidence"] });
  if (slow && !newer()) answer.value = { ...quick, evidence: slow.evidence };
}

/** The row that is changed, what was changed, and the answers: signals, and the ways to change them. */
function useRow(store) {
  const base = useSignal(null);
  const answer = useSignal(null);
  const changed = useSignal({});
  const klass = useSignal("");
  const flips = useSignal(null);
  const slow = useSignal(null);
  const at = (row, values) => ({ ...(row === null ? {} : { row }), values, ...(klass.value ? { class: klass.value } : {}) });
  const follow = useMemo(() => newest((payload, newer) => answered(store, answer, payload, newer)), []);
  const begin = async (row, values = {}) => {
    const start = await ask(store, "what_if", at(row, {}));
    if (!start) return;
    changed.value = values;
    base.value = start;
    answer.value = start;
    flips.value = null;
    if (Object.keys(values).length) follow(at(row, values));
  };
  const set = (values) => {
    changed.value = values;
    follow(at(base.value.row, values));
  };
  const search = async () => {
    slow.value = "Searching …";
    const asked = changed.value;
    const { class: _, ...payload } = at(base.value.row, asked);
    const found = await ask(store, "changes", payload);
    flips.value = found && { ...found, asked };
    slow.value = null;
  };
  return { base, answer, changed, klass, flips, slow, begin, set, search, again: () => follow(at(base.value.row, changed.value)) };
}

function Start({ store, row }) {
  const wanted = useSignal(store.row.value ?? 0);
  const { n_rows } = store.state.value;
  const take = (event) => {
    event.preventDefault();
    row.begin(Math.min(Math.max(Number(wanted.value) || 0, 0), n_rows - 1));
  };
  const { base } = row;
  const text = base.value.row === null ? "a typical row" : `row ${base.value.row}${base.value.truth === null ? "" : `, truly ${base.value.truth}`}`;
  return html`<form class="start" onSubmit=${take}>
    <p>Beginning with <strong>${text}</strong>.</p>
    <${Input} label="Row" type="number" min="0" max=${n_rows - 1} value=${wanted.value} onInput=${(text) => (wanted.value = text)} />
    <button type="submit">Take this row</button>
    <button type="button" onClick=${() => row.begin(null)}>A typical row</button>
    <button type="button" disabled=${Object.keys(row.changed.value).length === 0} onClick=${() => row.set({})}>Set all back</button>
  </form>`;
}

function Controls({ store, row }) {
  const wanted = useSignal("");
  const columns = store.state.value.columns.filter((column) => column.kind !== "unused" && !column.irrelevant);
  const sorted = [...columns].sort((one, other) => other.relevance - one.relevance);
  const seen = sorted.filter((column) => column.name.toLowerCase().includes(wanted.value.trim().toLowerCase()));
  const original = row.base.value.values;
  const current = { ...original, ...row.changed.value };
  const marks = new Map((row.flips.value?.one ?? []).map((change) => [change.changes[0].column, change]));
  const set = (name, value) => {
    const values = { ...row.changed.value, [name]: value };
    if (value === original[name]) delete values[name];
    row.set(values);
  };
  return html`<section class="controls" aria-label="Columns"><h3>Columns, most relevant first</h3>
    ${columns.length > 12 && html`<${Input} label="Search" type="search" value=${wanted.value} onInput=${(text) => (wanted.value = text)} />`}
    <div class="list">${seen.map((column) => html`<${Control} key=${column.name} column=${column} value=${current[column.name]} original=${original[column.name]}
      mark=${marks.get(column.name)} onChange=${(value) => set(column.name, value)} apply=${(change) => apply(row, change)} />`)}</div>
  </section>`;
}

function apply(row, change) {
  row.set({ ...row.changed.value, ...Object.fromEntries(change.changes.map(({ column, to }) => [column, to])) });
}

function Outcome({ row }) {
  const { answer, base } = row;
  const before = new Map(base.value.probabilities.map((one) => [one.class, one.probability]));
  const items = answer.value.probabilities.map((one) => ({
    name: one.class,
    share: one.probability,
    was: before.get(one.class),
    strong: one.class === answer.value.predicted,
  }));
  const other = answer.value.predicted !== base.value.predicted;
  return html`<section class="outcome"><h3>Class</h3>
    <p role="status"><strong class="predicted">${answer.value.predicted}</strong> ${other ? `instead of ${base.value.predicted}` : "as at the beginning"}</p>
    <${Shares} label="Probabilities of the classes" items=${items} />
    <p class="muted">The tick in each bar is the row at the beginning.</p>
    ${answer.value.notes.map((note) => html`<p class="note" key=${note}>${note}</p>`)}
  </section>`;
}

function Flip({ change, row }) {
  const text = change.changes.map(({ column, from, to }) => `${column}: ${cell(from)} → ${cell(to)}`).join(" and ");
  return html`<li><button type="button" class="link" onClick=${() => apply(row, change)}><span>${text}</span>
    <span class="number">${change.class}, ${percent(change.probability)}</span></button></li>`;
}

function Flips({ row }) {
  const found = row.flips.value;
  const form = useSignal("one");
  const list = found?.[form.value] ?? [];
  return html`<section class="flips"><h3>What would change the class?</h3>
    <button type="button" onClick=${row.search} disabled=${row.slow.value !== null}>${row.slow.value ?? "Search the smallest changes"}</button>
    ${found && html`<${Choice} label="How many columns change" value=${form.value} onChange=${(value) => (form.value = value)}
        options=${[["one", `One column (${found.one.length})`], ["two", `Two columns (${found.two.length})`]]} />
      ${list.length === 0 ? html`<p>None was found.</p>` : html`<ol class="edges">${list.slice(0, 10).map((change, k) => html`<${Flip} key=${k} change=${change} row=${row} />`)}</ol>`}
      <p class="muted">${found.note} ${found.asked !== row.changed.value && "The row was changed since then."}</p>`}
  </section>`;
}

export function WhatIf({ store }) {
  const row = useRow(store);
  useEffect(() => {
    row.begin(store.row.value);
  }, [store.model.value, store.row.value]);
  if (!row.answer.value) return html`<${Wait} />`;
  const { evidence, trajectory } = row.answer.value;
  const classes = store.state.value.classes.map((name) => [name, name]);
  const choose = (name) => {
    row.klass.value = name;
    row.again();
  };
  return html`<div class="whatif">
    <${Start} store=${store} row=${row} />
    <${Controls} store=${store} row=${row} />
    <div class="results">
      <${Outcome} row=${row} />
      <${Flips} row=${row} />
      <${Trajectory} networks=${trajectory} before=${row.base.value.trajectory} />
      <section><h3>Evidence</h3>
        <${Select} label="for" value=${row.klass.value} onChange=${choose} options=${[["", "the predicted class"], ...classes]} />
        <${Evidence} evidence=${evidence} /></section>
    </div>
    <${Scenarios} store=${store} row=${row} />
  </div>`;
}
