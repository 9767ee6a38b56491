// The classic what-if of cognitive maps: hold some concepts, start the others somewhere, let them settle.
import { html, useEffect, useMemo, useSignal } from "./vendor/preact.js";
import { Input, Scroll, Select, Wait } from "./parts.js";
import { ask, newest, useAnswer } from "./store.js";
import { StatesChart } from "./trajectory.js";
import { number } from "./words.js";

const RULES = ["quasi-nonlinear", "kosko", "kosko-memory", "rescaled"];
const ACTIVATIONS = ["sigmoid", "tanh", "bivalent", "trivalent"];
const POSITIVE = ["sigmoid", "bivalent"];

function Held({ name, held, start, least, last, onHold, onStart }) {
  return html`<tr class=${held ? "changed" : ""}><th scope="row">${name}</th>
    <td><input type="range" min=${least} max="1" step="0.01" value=${start} aria-label=${`${name}, ${held ? "held at" : "starts at"}`} aria-valuetext=${number(start)}
      onInput=${(event) => onStart(Number(event.currentTarget.value))} /></td>
    <td class="number">${number(start)}</td>
    <td><label class="check"><input type="checkbox" checked=${held} aria-label=${`Hold ${name}`} onChange=${(event) => onHold(event.currentTarget.checked)} />hold</label></td>
    <td class="number">${number(last)}</td></tr>`;
}

/** A map's run, asked again while the sliders move. */
function useRun(store, name) {
  const start = useSignal({});
  const held = useSignal([]);
  const run = useSignal(null);
  const options = useSignal({});
  const answered = async (payload) => {
    const got = await ask(store, "simulate", payload);
    if (got) run.value = got;
  };
  const follow = useMemo(() => newest(answered), []);
  const payload = () => {
    const kept = (inside) => Object.fromEntries(Object.entries(start.value).filter(([concept]) => held.value.includes(concept) === inside));
    return { map: name, start: kept(false), clamp: kept(true) };
  };
  const chosen = () => Object.fromEntries(Object.entries(options.value).filter(([, value]) => value));
  useEffect(() => {
    follow({ ...payload(), ...chosen() });
  }, [name, store.model.value, start.value, held.value, options.value]);
  return { start, held, run, options, payload: () => ({ ...payload(), options: chosen() }) };
}

function Reasoning({ options }) {
  const select = (key, label, values) => html`<${Select} label=${label} value=${options.value[key] ?? ""}
    options=${[["", "as the map says"], ...values.map((one) => [one, one])]} onChange=${(value) => (options.value = { ...options.value, [key]: value })} />`;
  return html`<div class="tools">${select("rule", "Rule", RULES)} ${select("activation", "Activation", ACTIVATIONS)}</div>`;
}

function Keep({ store, run }) {
  const name = useSignal("");
  const keep = async (event) => {
    event.preventDefault();
    if (!(await ask(store, "save_scenario", { name: name.value, ...run.payload() }))) return;
    store.said.value = "The scenario is kept.";
    run.asked.value += 1;
    name.value = "";
  };
  return html`<form class="keep" onSubmit=${keep}><${Input} label="Keep this run as" value=${name.value} required onInput=${(text) => (name.value = text)} /><button type="submit">Keep</button></form>`;
}

function Side({ store, asked }) {
  const kept = useAnswer(store, "scenarios", {}, asked.value);
  const names = (kept.value?.scenarios ?? []).filter((one) => one.kind === "map").map((one) => one.name);
  return names.length ? html`<${Finals} store=${store} names=${names} stamp=${asked.value} />` : "";
}

function Finals({ store, names, stamp }) {
  const answer = useAnswer(store, "compare_scenarios", { names }, stamp);
  const { scenarios = [], concepts = [] } = answer.value?.maps ?? {};
  if (!scenarios.length) return "";
  return html`<${Scroll} label="Runs side by side" tall><table><thead><tr><th scope="col">where it ends</th>${scenarios.map((one) => html`<th scope="col" class="number" key=${one.name}>${one.name}</th>`)}</tr></thead>
    <tbody><tr><th scope="row">verdict</th>${scenarios.map((one) => html`<td key=${one.name}>${one.verdict}</td>`)}</tr>
      ${concepts.filter((one) => one.differs || concepts.length < 12).map((one) => html`<tr key=${one.name}><th scope="row">${one.name}</th>${scenarios.map((s) => html`<td class="number" key=${s.name}>${number(s.final[one.name])}</td>`)}</tr>`)}</tbody></table></${Scroll}>`;
}

function Run({ store, name }) {
  const asked = useSignal(0);
  const run = { ...useRun(store, name), asked };
  const got = run.run.value;
  if (!got) return html`<${Wait} />`;
  const set = (concept, value) => (run.start.value = { ...run.start.value, [concept]: value });
  const hold = (concept, on) => {
    run.held.value = on ? [...run.held.value, concept] : run.held.value.filter((one) => one !== concept);
    if (on && run.start.value[concept] === undefined) set(concept, got.states[0][got.concepts.indexOf(concept)]);
  };
  const least = POSITIVE.includes(got.reasoning.activation) ? 0 : -1;
  const begins = (concept, k) => run.start.value[concept] ?? got.states[0][k];
  return html`<${Reasoning} options=${run.options} />
    <div class="grid"><section><${Scroll} label="Concepts" tall><table class="held"><thead><tr><th scope="col">concept</th><th scope="col">start</th><th scope="col"><span class="unseen">value</span></th><th scope="col">hold</th><th scope="col" class="number">ends at</th></tr></thead>
      <tbody>${got.concepts.map((concept, k) => html`<${Held} key=${concept} name=${concept} held=${run.held.value.includes(concept)} start=${begins(concept, k)} least=${least} last=${got.final[concept]}
        onHold=${(on) => hold(concept, on)} onStart=${(value) => set(concept, value)} />`)}</tbody></table></${Scroll}></section>
    <section><p role="status">${got.text}</p><${StatesChart} key=${name} concepts=${got.concepts} states=${got.states} label="States of the concepts over the iterations" />
      <${Keep} store=${store} run=${run} /><${Side} store=${store} asked=${asked} /></section></div>`;
}

export function Simulation({ store, maps }) {
  const name = useSignal(maps[0].name);
  return html`<section><h3>Hold some concepts, let the rest settle</h3>
    <${Select} label="Map" value=${name.value} options=${maps.map((one) => [one.name, one.name])} onChange=${(value) => (name.value = value)} />
    <${Run} key=${name.value} store=${store} name=${name.value} /></section>`;
}
