// The panel beside the map: what is selected, what may be stated about it, and all that is stated.
import { html, useEffect, useId, useRef, useSignal } from "./vendor/preact.js";
import { change } from "./store.js";
import { count, relevant, signed } from "./words.js";
import { Input, Lines, Select } from "./parts.js";

const LISTED = 8;
const KINDS = [
  ["forbid", "No such edge"],
  ["fix", "Exactly this weight"],
  ["plus", "Positive or 0"],
  ["minus", "Negative or 0"],
  ["bound", "Between two bounds"],
];

/** The call and payload of what the form says. */
function statement(kind, names, low, high) {
  const value = (text) => (text === "" ? null : Number(text));
  if (kind === "irrelevant") return ["irrelevant", { feature: names.source }];
  if (kind === "forbid") return ["forbid", names];
  if (kind === "fix") return ["fix", { ...names, value: value(low) }];
  if (kind === "bound") return ["bound", { ...names, low: value(low), high: value(high) }];
  return ["sign", { ...names, value: kind === "plus" ? "+" : "-" }];
}

/** Who says so and why; the author is remembered from the last statement. */
function Record({ author, reason }) {
  return html`<${Input} label="Who states it" value=${author.value} onInput=${(text) => (author.value = text)} required name="author" />
    <${Lines} label="Why" value=${reason.value} onInput=${(text) => (reason.value = text)} required name="reason" />`;
}

/** A form that changes the session and says below why it could not. */
function Stating({ store, label, send, children, onDone }) {
  const author = useSignal(store.state.value.author);
  const reason = useSignal("");
  const wrong = useSignal(null);
  const replace = useSignal(false);
  const submit = async (event) => {
    event.preventDefault();
    const [name, payload] = send();
    const record = { author: author.value, reason: reason.value };
    const message = await change(store, name, { ...payload, ...record, ...(replace.value ? { replace: true } : {}) });
    wrong.value = message;
    if (message) return;
    reason.value = "";
    store.said.value = "It is in the history; the model is fitted again.";
    onDone?.();
  };
  return html`<form class="stating" onSubmit=${submit} aria-label=${label}>
    ${children}
    <${Record} author=${author} reason=${reason} />
    ${wrong.value && html`<p class="wrong" role="alert">${wrong.value}</p>
      <label class="check"><input type="checkbox" checked=${replace.value} onChange=${(e) => (replace.value = e.currentTarget.checked)} />
        Withdraw earlier statements about the same in the same step</label>`}
    <button type="submit" class="main">${label}</button>
  </form>`;
}

/** One term of a column, or all of them, where a concept is not the whole column. */
function Scope({ concept, value, onChange, end }) {
  if (concept.name === concept.column) return "";
  return html`<${Select} label=${end} value=${value} onChange=${onChange}
    options=${[["name", `${concept.name} (this term)`], ["column", `${concept.column} (all its terms)`]]} />`;
}

function EdgeForm({ store, source, target, weight }) {
  const kind = useSignal("forbid");
  const low = useSignal(String(Number(weight.toPrecision(3))));
  const high = useSignal("");
  const ends = useSignal({ source: "name", target: "name" });
  const group = useId();
  const names = () => ({ source: source[ends.value.source], target: target[ends.value.target] });
  const asks = kind.value === "fix" ? ["Weight"] : kind.value === "bound" ? ["At least", "At most"] : [];
  return html`<${Stating} store=${store} label="State it and refit" send=${() => statement(kind.value, names(), low.value, high.value)}>
    <fieldset><legend>State about this edge</legend>
      ${KINDS.map(([key, text]) => html`<label class="check" key=${key}><input type="radio" name=${group} value=${key} checked=${kind.value === key}
        onChange=${() => (kind.value = key)} />${text}</label>`)}
    </fieldset>
    ${asks.map((label, k) => {
      const text = k ? high : low;
      return html`<${Input} key=${label} label=${label} type="number" step="any" value=${text.value} required=${kind.value === "fix"}
        onInput=${(value) => (text.value = value)} />`;
    })}
    <${Scope} concept=${source} end="From" value=${ends.value.source} onChange=${(v) => (ends.value = { ...ends.value, source: v })} />
    <${Scope} concept=${target} end="To" value=${ends.value.target} onChange=${(v) => (ends.value = { ...ends.value, target: v })} />
  </${Stating}>`;
}

function about(statement, names) {
  return names.includes(statement.source) && (statement.target === null || names.includes(statement.target));
}

function EdgePanel({ store, lens }) {
  const { source, target } = lens.chosen.value;
  const net = store.net.value;
  if (!(source >= 0) || !(target >= 0)) return html`<p>This edge is not in this network.</p>`;
  const [from, to] = [net.concepts[source], net.concepts[target]];
  const weight = net.weights[source][target];
  const does = weight < 0 ? "lowers" : "raises";
  const names = [from.name, from.column, to.name, to.column];
  const stated = store.state.value.statements.filter((one) => one.target !== null && about(one, names));
  const pick = (name) => (store.selected.value = { concept: name });
  return html`<p class="ends"><button type="button" class="link" onClick=${() => pick(from.name)}>${from.name}</button>
      <span aria-hidden="true">→</span><span class="unseen">acts on</span>
      <button type="button" class="link" onClick=${() => pick(to.name)}>${to.name}</button></p>
    <p class="weight"><span class=${weight ? does : ""}>${signed(weight)}</span>
      ${weight ? `the larger ${from.name}, the ${weight < 0 ? "smaller" : "larger"} ${to.name} becomes` : "there is no edge"}.
      The way back weighs ${signed(net.weights[target][source])}.</p>
    ${stated.length > 0 && html`<${Statements} store=${store} statements=${stated} />`}
    <${EdgeForm} key=${`${from.name} ${to.name} ${store.map.value.version}`} store=${store} source=${from} target=${to} weight=${weight} />`;
}

function EdgeList({ store, title, edges, end }) {
  const all = useSignal(false);
  const { concepts } = store.net.value;
  const listed = all.value ? edges : edges.slice(0, LISTED);
  const pick = (edge) => {
    store.selected.value = { source: concepts[edge.source].name, target: concepts[edge.target].name };
    store.focus.value += 1;
  };
  return html`<h4>${title}</h4>
    ${edges.length === 0 && html`<p class="muted">No edge.</p>`}
    <ul class="edges">${listed.map((edge) => html`<li key=${edge.key}><button type="button" class="link" onClick=${() => pick(edge)}>
      <span>${concepts[edge[end]].name}</span><span class=${`number ${edge.weight < 0 ? "lowers" : "raises"}`}>${signed(edge.weight)}</span></button></li>`)}</ul>
    ${edges.length > LISTED && html`<button type="button" class="small" onClick=${() => (all.value = !all.value)}>
      ${all.value ? "Show the strongest" : `Show all ${edges.length}`}</button>`}`;
}

function BiasForm({ store, name, bias }) {
  const text = useSignal(String(Number(bias.toPrecision(3))));
  return html`<${Stating} store=${store} label=${`State the bias of ${name} and refit`} send=${() => ["bias", { feature: name, value: Number(text.value) }]}>
    <${Input} label="Bias" type="number" step="any" value=${text.value} required onInput=${(value) => (text.value = value)} />
  </${Stating}>`;
}

function ConceptPanel({ store, lens }) {
  const index = lens.chosen.value.concept;
  const net = store.net.value;
  if (!(index >= 0)) return html`<p>This concept is not in this network.</p>`;
  const { name, column, relevance } = net.concepts[index];
  const edges = lens.edges.value;
  const others = net.concepts.filter((concept) => concept.name !== name);
  const to = (target) => target && (store.selected.value = { source: name, target });
  return html`<p>${relevant(relevance)}. ${name !== column && `A term of the column ${column}.`} Bias ${signed(net.bias[index])}.</p>
    <${EdgeList} key=${`out ${name}`} store=${store} title="Acts on" end="target" edges=${edges.filter((edge) => edge.source === index)} />
    <${EdgeList} key=${`in ${name}`} store=${store} title="Is acted on by" end="source" edges=${edges.filter((edge) => edge.target === index)} />
    <div class="stating"><${Select} label="Edge to" value="" onChange=${to} options=${[["", "choose a concept to state something"], ...others.map((one) => [one.name, one.name])]} /></div>
    <details><summary>Declare ${column} irrelevant</summary>
      <p class="muted">It becomes no concept, and no prediction depends on it.</p>
      <${Stating} key=${column} store=${store} label=${`Declare ${column} irrelevant and refit`} send=${() => statement("irrelevant", { source: column })} />
    </details>
    <details><summary>State the bias of ${name}</summary>
      <p class="muted">What its state tends to when no other concept acts on it.</p>
      <${BiasForm} key=${`${name} ${store.map.value.version}`} store=${store} name=${name} bias=${net.bias[index]} />
    </details>`;
}

function Statements({ store, statements }) {
  const open = useSignal(null);
  return html`<ul class="statements">${statements.map((one) => html`<li key=${`${one.number} ${one.claim}`}>
    <p><strong>${one.claim}</strong></p>
    <p class="muted">${[one.author, one.date].filter(Boolean).join(", ")}${one.reason && `: ${one.reason}`}</p>
    ${open.value === one.number
      ? html`<${Stating} store=${store} label="Withdraw it and refit" send=${() => ["withdraw", { number: one.number }]} onDone=${() => (open.value = null)} />`
      : html`<button type="button" class="small" onClick=${() => (open.value = one.number)}
          aria-label=${`Withdraw: ${one.claim}`}>Withdraw …</button>`}
  </li>`)}</ul>`;
}

/** Everything that is stated, and columns without a concept, which the map cannot show. */
export function Knowledge({ store }) {
  const { statements, columns } = store.state.value;
  const without = columns.filter((column) => column.irrelevant || column.kind === "unused");
  return html`<section class="knowledge"><h3>${count(statements.length, "statement")}</h3>
    ${statements.length === 0 && html`<p class="muted">Nothing is stated yet: all weights are learned.</p>`}
    <${Statements} store=${store} statements=${statements} />
    ${without.length > 0 && html`<p class="muted">Not in the map: ${without.map((column) => column.name).join(", ")}.</p>`}
  </section>`;
}

export function Panel({ store, lens, back }) {
  const heading = useRef(null);
  const selected = store.selected.value;
  useEffect(() => {
    if (store.focus.value) heading.current?.focus();
  }, [store.focus.value]);
  const onKeyDown = (event) => {
    if (event.key !== "Escape") return;
    event.preventDefault();
    back();
  };
  const title = !selected ? "Nothing selected" : selected.concept !== undefined ? selected.concept : "Edge";
  return html`<section class="panel" onKeyDown=${onKeyDown} aria-label="Selection">
    <h3 ref=${heading} tabindex="-1">${title}</h3>
    ${!selected && html`<p class="muted">Select a concept or an edge in the map or the matrix to see its weights and to state something about it.
      By keyboard: Tab to the map, arrow keys, Enter; Escape leads back.</p>`}
    ${selected?.concept !== undefined && html`<${ConceptPanel} store=${store} lens=${lens} />`}
    ${selected?.source !== undefined && html`<${EdgePanel} store=${store} lens=${lens} />`}
  </section>`;
}

