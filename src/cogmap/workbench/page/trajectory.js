// The trajectory: the state of every concept through the iterations, some of them in colour.
import { html, useSignal } from "./vendor/preact.js";
import { LineChart, LINES, Sample, Scroll, Select } from "./parts.js";
import { number, shortened } from "./words.js";

const APART = 0.03;

/** The largest difference between a concept's states and other ones. */
function apart(states, k, other) {
  return Math.max(...states.map((state, t) => Math.abs(state[k] - other(t))));
}

/** Concepts in the order of how far they are from where they were, or else from where they start. */
function byMove(states, before) {
  const same = before?.length === states.length && before[0].length === states[0].length;
  const moved = states[0].map((start, k) => apart(states, k, (t) => (same ? before[t][k] : start)));
  const ways = moved.some((move) => move > 1e-9) ? moved : states[0].map((start, k) => apart(states, k, () => start));
  return [...ways.keys()].sort((i, j) => ways[j] - ways[i]);
}

/** The first of them whose lines do not hide each other. */
function distinct(order, states) {
  const found = [];
  for (const k of order) {
    if (found.length < LINES && found.every((other) => apart(states, k, (t) => states[t][other]) > APART)) found.push(k);
  }
  return found;
}

export function StatesChart({ concepts, states, read, label, before }) {
  const chosen = useSignal(null);
  const order = byMove(states, before);
  const lit = (chosen.value ?? distinct(order, states).map((k) => concepts[k])).filter((name) => concepts.includes(name));
  const toggle = (name) => {
    chosen.value = lit.includes(name) ? lit.filter((one) => one !== name) : [...lit, name].slice(-LINES);
  };
  const kind = (name) => (lit.includes(name) ? `c${lit.indexOf(name)}` : "rest");
  const line = (k) => ({ name: concepts[k], kind: kind(concepts[k]), points: states.map((state, t) => [t, state[k]]) });
  // Those in colour lie on top.
  const lines = order.map(line).sort((one, other) => (one.kind === "rest" ? 0 : 1) - (other.kind === "rest" ? 0 : 1));
  const texts = states.length <= 12 ? states.map((_, t) => [t, String(t)]) : undefined;
  return html`<${LineChart} lines=${lines} label=${label} texts=${texts} mark=${read} onPick=${toggle} />
    <ul class="legend">${lit.map((name) => html`<li key=${name}><button type="button" class="link" onClick=${() => toggle(name)}
      aria-label=${`Take ${name} out of the coloured lines`}><${Sample} kind=${kind(name)} />${shortened(name, 34)}</button></li>`)}</ul>
    <${Select} label="Colour another concept" value="" onChange=${(name) => name && toggle(name)}
      options=${[["", "choose"], ...order.map((k) => concepts[k]).filter((name) => !lit.includes(name)).map((name) => [name, name])]} />
    <details><summary>All states as numbers</summary><${Scroll} label="States" tall>
      <table><thead><tr><th scope="col">concept</th>${states.map((_, t) => html`<th scope="col" class="number" key=${t}>${t}</th>`)}</tr></thead>
        <tbody>${order.map((k) => html`<tr key=${k}><th scope="row">${concepts[k]}</th>${states.map((state, t) => html`<td class="number" key=${t}>${number(state[k])}</td>`)}</tr>`)}</tbody>
      </table></${Scroll}></details>`;
}


const VERDICTS = { "fixed point": "The states settle at a fixed point.", cycle: "The states enter a cycle.", neither: "The states have not settled." };

export function Trajectory({ networks, before }) {
  const index = useSignal(0);
  const one = networks[Math.min(index.value, networks.length - 1)];
  if (!one) return "";
  return html`<section class="trajectory"><h3>Trajectory</h3>
    ${networks.length > 1 && html`<${Select} label="Network" value=${index.value} onChange=${(value) => (index.value = Number(value))}
      options=${networks.map((net, k) => [k, net.network || `network ${k + 1}`])} />`}
    <p>${VERDICTS[one.verdict] ?? one.verdict} ${one.read < one.states.length - 1 && `The decision reads ${one.read} of the iterations shown, up to the line.`}</p>
    <${StatesChart} key=${one.network} concepts=${one.concepts} states=${one.states} read=${one.read} before=${before?.[index.value]?.states} label=${`States of ${one.concepts.length} concepts over ${one.states.length - 1} iterations`} />
  </section>`;
}
