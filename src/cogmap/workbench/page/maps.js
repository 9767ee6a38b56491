// Maps beside the model: drawn elsewhere or learned; simulated, compared, merged.
import { html, useSignal } from "./vendor/preact.js";
import { Choice, Input, Scroll, Select, Wait } from "./parts.js";
import { Simulation } from "./simulation.js";
import { ask, useAnswer } from "./store.js";
import { count, number, signed } from "./words.js";

function Known({ maps, remove }) {
  return html`<table><thead><tr><th scope="col">map</th><th scope="col">from</th><th scope="col" class="number">concepts</th><th scope="col" class="number">edges</th><th scope="col"><span class="unseen">remove</span></th></tr></thead>
    <tbody>${maps.map((one) => html`<tr key=${one.name}><th scope="row">${one.name}</th><td>${one.from}</td><td class="number">${one.n_concepts}</td><td class="number">${one.n_edges}</td>
      <td>${one.from !== "learned" && html`<button type="button" class="small" onClick=${() => remove(one.name)} aria-label=${`Remove ${one.name}`}>Remove</button>`}</td></tr>`)}</tbody></table>`;
}

function Load({ store, onMaps }) {
  const read = async (event) => {
    const input = event.currentTarget;
    for (const file of [...input.files]) {
      const got = await ask(store, "load_map", { name: file.name, text: await file.text() });
      if (got) onMaps();
    }
    input.value = "";
  };
  return html`<label class="field file">Load maps: edge list or matrix (.csv; Mental Modeler's, too), .graphml, .json
    <input type="file" multiple accept=".csv,.graphml,.json,.xml" onChange=${read} /></label>`;
}

function Compared({ store, maps }) {
  const pair = useSignal({ before: maps[0].name, after: maps.at(-1).name });
  const answer = useAnswer(store, "compare_maps", pair.value, maps.length + store.stamp.value);
  const options = maps.map((one) => [one.name, one.name]);
  const got = answer.value;
  const only = (names, where) => names.length > 0 && html`<p>Only in ${where}: ${names.join(", ")}.</p>`;
  return html`<section><h3>Compare two maps</h3><div class="tools">
      <${Select} label="One" value=${pair.value.before} options=${options} onChange=${(before) => (pair.value = { ...pair.value, before })} />
      <${Select} label="Other" value=${pair.value.after} options=${options} onChange=${(after) => (pair.value = { ...pair.value, after })} /></div>
    ${got && html`<dl class="cards">${Object.entries(got.agreement).filter(([, value]) => value === null || typeof value === "number").map(([name, value]) => html`<div class="card" key=${name}><dt>${name.replaceAll("_", " ")}</dt><dd>${number(value)}</dd></div>`)}</dl>
      ${only(got.only_before, pair.value.before)} ${only(got.only_after, pair.value.after)}
      <${Scroll} label="Edges that differ" tall><table><thead><tr><th scope="col">edge</th><th scope="col" class="number">${pair.value.before}</th><th scope="col" class="number">${pair.value.after}</th></tr></thead>
        <tbody>${got.edges.map((one, k) => html`<tr key=${k}><th scope="row">${one.source} → ${one.target}</th><td class="number">${one.before === null ? "–" : signed(one.before)}</td><td class="number">${one.after === null ? "–" : signed(one.after)}</td></tr>`)}</tbody></table></${Scroll}>`}
  </section>`;
}

function Disagreements({ merged }) {
  const names = Object.keys(merged.disagreements[0]?.weights ?? {});
  return html`<p role="status">${merged.name} is made. ${count(merged.disagreements.length, "disagreement")}.</p>
    ${merged.disagreements.length > 0 && html`<${Scroll} label="Disagreements" tall><table><thead><tr><th scope="col">edge</th>${names.map((name) => html`<th scope="col" class="number" key=${name}>${name}</th>`)}
        <th scope="col" class="number">spread</th><th scope="col">signs</th></tr></thead>
      <tbody>${merged.disagreements.map((one, k) => html`<tr key=${k}><th scope="row">${one.source} → ${one.target}</th>${names.map((name) => html`<td class="number" key=${name}>${one.weights[name] === null ? "–" : signed(one.weights[name])}</td>`)}
        <td class="number">${number(one.spread)}</td><td>${one.signs ? "opposite" : "alike"}</td></tr>`)}</tbody></table></${Scroll}>`}`;
}

function Merge({ store, maps, rules, onMaps }) {
  const chosen = useSignal([]);
  const rule = useSignal(rules[0]);
  const name = useSignal("merged");
  const merged = useSignal(null);
  const toggle = (one) => (chosen.value = chosen.value.includes(one) ? chosen.value.filter((other) => other !== one) : [...chosen.value, one]);
  const merge = async (event) => {
    event.preventDefault();
    merged.value = await ask(store, "merge_maps", { names: chosen.value, rule: rule.value, as: name.value });
    if (merged.value) onMaps();
  };
  return html`<section><h3>Merge maps of several experts</h3><form class="merge" onSubmit=${merge}>
      <fieldset><legend>Maps</legend>${maps.map((one) => html`<label class="check" key=${one.name}><input type="checkbox" checked=${chosen.value.includes(one.name)} onChange=${() => toggle(one.name)} />${one.name}</label>`)}</fieldset>
      <${Select} label="Rule" value=${rule.value} options=${rules.map((one) => [one, one.replaceAll("_", " ")])} onChange=${(value) => (rule.value = value)} />
      <${Input} label="Name" value=${name.value} required onInput=${(text) => (name.value = text)} />
      <button type="submit" disabled=${chosen.value.length < 2}>Merge</button></form>
    ${merged.value && html`<${Disagreements} merged=${merged.value} />`}</section>`;
}

export function Maps({ store }) {
  const asked = useSignal(0);
  const form = useSignal("simulate");
  const answer = useAnswer(store, "maps", {}, `${asked.value} ${store.model.value}`);
  const again = () => (asked.value += 1);
  const remove = async (name) => {
    if (await ask(store, "remove_map", { name })) again();
  };
  if (!answer.value) return html`<${Wait} />`;
  const { maps, rules } = answer.value;
  const shared = { store, maps, onMaps: again };
  return html`<div class="page">
    <div class="grid"><section><${Scroll} label="Maps"><${Known} maps=${maps} remove=${remove} /></${Scroll}></section><section><${Load} store=${store} onMaps=${again} /></section></div>
    <${Choice} label="What to do" value=${form.value} onChange=${(value) => (form.value = value)} options=${[["simulate", "Simulate"], ["compare", "Compare"], ["merge", "Merge"]]} />
    ${form.value === "simulate" && html`<${Simulation} ...${shared} />`}
    ${form.value === "compare" && html`<${Compared} key=${maps.length} ...${shared} />`}
    ${form.value === "merge" && html`<${Merge} ...${shared} rules=${rules} />`}
  </div>`;
}
