// Numbers and values as text; one way of writing each, on all parts of the page.

export function number(value, digits = 3) {
  if (value === null || value === undefined) return "–";
  if (value === 0) return "0";
  const size = Math.abs(value);
  const text = size >= 1e6 || size < 1e-4 ? value.toExponential(digits - 1) : String(Number(value.toPrecision(digits)));
  return text.replaceAll("-", "−");
}

export function signed(value, digits = 3) {
  return value > 0 ? `+${number(value, digits)}` : number(value, digits);
}

export function percent(share) {
  if (share === null || share === undefined) return "–";
  const hundred = 100 * share;
  if (hundred > 99.9 && hundred < 100) return "> 99.9 %";
  if (hundred > 0 && hundred < 0.1) return "< 0.1 %";
  return `${hundred.toFixed((hundred > 0 && hundred < 10) || (hundred > 99 && hundred < 100) ? 1 : 0)} %`;
}

export function relevant(share) {
  return share === null ? "relevance not computed yet" : `${percent(share)} of the relevance`;
}

export function cell(value) {
  if (value === null || value === undefined) return "missing";
  return typeof value === "number" ? number(value, 6) : String(value);
}

export function count(n, one, many = `${one}s`) {
  return `${n.toLocaleString("en")} ${n === 1 ? one : many}`;
}

export function shortened(name, most) {
  return name.length <= most ? name : `${name.slice(0, Math.ceil(most / 2) - 1)}…${name.slice(-Math.floor(most / 2))}`;
}

export function when(text) {
  const date = new Date(text);
  return Number.isNaN(date.getTime()) ? text : date.toLocaleString("en-GB", { dateStyle: "medium", timeStyle: "short" });
}

export function bytes(n) {
  return n < 1000 ? `${n} bytes` : n < 1e6 ? `${(n / 1000).toPrecision(3)} kB` : `${(n / 1e6).toPrecision(3)} MB`;
}
