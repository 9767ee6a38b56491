"use strict";
document.documentElement.classList.add("js");

for (const map of document.querySelectorAll(".map")) {
  const svg = map.querySelector(".network");
  const edges = [...svg.querySelectorAll(".edge")];
  const nodes = [...svg.querySelectorAll(".node")];
  const slider = map.querySelector("input");
  const count = map.querySelector("output");
  const readout = map.querySelector(".readout");
  const asked = readout.textContent;
  const largest = Number(svg.dataset.largest);
  const name = (index) => nodes.find((node) => node.dataset.index === index).dataset.name;
  const weight = (edge) => Number(edge.dataset.weight);
  const written = (value) => (value < 0 ? "−" : "+") + Math.abs(value).toPrecision(3);
  const shown = (edge) => !edge.classList.contains("weak");

  const clear = () => {
    svg.classList.remove("focused");
    for (const part of [...edges, ...nodes]) part.classList.remove("lit");
  };
  const light = (parts) => {
    clear();
    svg.classList.add("focused");
    for (const part of parts) part.classList.add("lit");
  };
  const showEdge = (edge) => {
    const value = weight(edge);
    light([edge]);
    readout.textContent =
      `${name(edge.dataset.source)} ${value < 0 ? "lowers" : "raises"} ${name(edge.dataset.target)}: weight ${written(value)}.`;
  };
  const list = (found, end) =>
    found.length ? found.map((edge) => `${name(edge.dataset[end])} (${written(weight(edge))})`).join(", ") : "none";
  const showNode = (node) => {
    const strongest = (one, other) => Math.abs(weight(other)) - Math.abs(weight(one));
    const out = edges.filter((edge) => shown(edge) && edge.dataset.source === node.dataset.index).sort(strongest);
    const into = edges.filter((edge) => shown(edge) && edge.dataset.target === node.dataset.index).sort(strongest);
    light([node, ...out, ...into]);
    readout.textContent =
      `${node.dataset.name}, ${node.dataset.share} of the relevance. ` +
      `Acts on: ${list(out, "target")}. Is acted on by: ${list(into, "source")}.`;
  };
  const filter = () => {
    const least = (Number(slider.value) / Number(slider.max)) * largest;
    for (const edge of edges) edge.classList.toggle("weak", Math.abs(weight(edge)) < least);
    const text = `${edges.filter(shown).length} of ${edges.length} edges, weights of at least ${least.toPrecision(2)}`;
    count.textContent = text;
    slider.setAttribute("aria-valuetext", text);
    clear();
    readout.textContent = asked;
  };
  const focusOn = (step) => (event) => {
    const next = nodes[(nodes.indexOf(event.currentTarget) + step + nodes.length) % nodes.length];
    for (const node of nodes) node.setAttribute("tabindex", node === next ? "0" : "-1");
    next.focus();
    event.preventDefault();
  };
  const keys = { ArrowRight: focusOn(1), ArrowDown: focusOn(1), ArrowLeft: focusOn(-1), ArrowUp: focusOn(-1) };

  for (const edge of edges) {
    edge.addEventListener("pointerenter", () => showEdge(edge));
    edge.addEventListener("pointerleave", clear);
  }
  nodes.forEach((node, index) => {
    node.setAttribute("tabindex", index ? "-1" : "0");
    node.addEventListener("pointerenter", () => showNode(node));
    node.addEventListener("pointerleave", clear);
    node.addEventListener("focus", () => showNode(node));
    node.addEventListener("blur", clear);
    node.addEventListener("click", () => node.focus());
    node.addEventListener("keydown", (event) => {
      if (event.key in keys) keys[event.key](event);
      if (event.key === "Escape") node.blur();
    });
  });
  slider.addEventListener("input", filter);
}

for (const scroller of document.querySelectorAll(".scroller")) {
  const box = scroller.querySelector(".scroll");
  const update = () => {
    scroller.classList.toggle("over", box.scrollWidth > box.clientWidth + 1);
    scroller.classList.toggle("end", box.scrollLeft + box.clientWidth >= box.scrollWidth - 1);
  };
  box.addEventListener("scroll", update, { passive: true });
  new ResizeObserver(update).observe(box);
  update();
}

window.addEventListener("beforeprint", () => {
  for (const part of document.querySelectorAll("details")) part.open = true;
});
