import { formatNumber } from "./format.ts";

/** A line of a chart. */
export interface ChartLine {
  readonly name: string;
  /** Lines of one colour belong together; the second of two such is dashed. */
  readonly colour: number;
  readonly isDashed: boolean;
  readonly points: readonly { readonly x: number; readonly y: number }[];
}

export interface ChartPanel {
  readonly title: string;
  /**
   * Default: linear, from zero. A logarithmic one goes from power to power of ten, and leaves out
   * what is not above zero.
   */
  readonly scale?: "linear" | "logarithmic";
  readonly lines: readonly ChartLine[];
}

export interface Chart {
  readonly title: string;
  readonly axis: { readonly label: string; readonly scale: "linear" | "logarithmic" };
  /** Shown one below the other, over the same axis. */
  readonly panels: readonly ChartPanel[];
  /** Moments, as lines through all panels, named in the first one. */
  readonly marks?: readonly { readonly x: number; readonly label: string }[];
}

const WIDTH = 760;
const PANEL_HEIGHT = 300;
const TITLE_HEIGHT = 36;
const AXIS_HEIGHT = 44;
const LEFT = 84;
const RIGHT = 24;
const PANEL_TOP = 52;
const LEGEND_ENTRY_WIDTH = 160;
const LEGEND_COLUMNS = 4;
const LEGEND_ROW_HEIGHT = 18;
const Y_TICKS = 5;
const X_TICKS_MAX = 12;
/** Longer lines are drawn without their points. */
const DOTS_MAX = 60;
/** Names of marks, one below the other in turn so that neighbours do not meet. */
const MARK_ROWS = 2;
const MARK_ROW_HEIGHT = 15;
/** Distinguishable for colour-blind readers, on light and on dark (Okabe and Ito). */
const COLOURS = ["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00"];

/** Draws a chart as SVG text, readable on light and on dark pages alike. */
export function chartSvg({ title, axis, panels, marks = [] }: Chart): string {
  const xs = [...new Set(panels.flatMap(({ lines }) => lines.flatMap(({ points }) => points.map(({ x }) => x))))].sort(
    (a, b) => a - b,
  );
  const place = xPlace(xs, axis.scale);
  const tops = panels.map((_, i) => TITLE_HEIGHT + panels.slice(0, i).reduce((sum, panel) => sum + heightOf(panel), 0));
  const bottom = TITLE_HEIGHT + panels.reduce((sum, panel) => sum + heightOf(panel), 0);
  const height = bottom + AXIS_HEIGHT;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" role="img" aria-label="${escapeXml(title)}">`,
    "<style>text{font:13px system-ui,sans-serif;fill:#222}.t{font-size:16px;font-weight:600}.g{stroke:#8884;stroke-width:1}.a{stroke:#888;stroke-width:1}",
    ".m{stroke:#888;stroke-width:1.5;stroke-dasharray:2 3}.n{font-size:12px}",
    ".b{fill:#fff}@media(prefers-color-scheme:dark){text{fill:#ddd}.b{fill:#161616}}</style>",
    `<rect class="b" width="${WIDTH}" height="${height}"/>`,
    `<text class="t" x="${LEFT}" y="24">${escapeXml(title)}</text>`,
    ...panels.flatMap((panel, i) => panelSvg(panel, tops[i] ?? 0, place)),
    ...panels.flatMap((panel, i) => {
      const { plotTop, plotBottom } = plotOf(panel, tops[i] ?? 0);
      return marks.flatMap(({ x, label }, mark) => {
        const at = round(place(x));
        const line = `<line class="m" x1="${at}" x2="${at}" y1="${plotTop}" y2="${plotBottom}"/>`;
        const y = plotTop + 12 + (mark % MARK_ROWS) * MARK_ROW_HEIGHT;
        return i === 0 ? [line, `<text class="n" x="${at + 4}" y="${y}">${escapeXml(label)}</text>`] : [line];
      });
    }),
    ...xTicks(xs, axis.scale).map(
      (x) =>
        `<text x="${round(place(x))}" y="${bottom + 14}" text-anchor="middle">${escapeXml(formatNumber(x))}</text>`,
    ),
    `<text x="${(LEFT + WIDTH - RIGHT) / 2}" y="${bottom + 34}" text-anchor="middle">${escapeXml(axis.label)}</text>`,
    "</svg>",
    "",
  ].join("\n");
}

/** A legend of many lines takes more room. */
function heightOf({ lines }: ChartPanel): number {
  return PANEL_HEIGHT + LEGEND_ROW_HEIGHT * Math.max(0, Math.ceil(lines.length / LEGEND_COLUMNS) - 1);
}

function plotOf(panel: ChartPanel, top: number): { readonly plotTop: number; readonly plotBottom: number } {
  const plotBottom = top + heightOf(panel) - 8;
  return { plotTop: plotBottom + 8 - PANEL_HEIGHT + PANEL_TOP, plotBottom };
}

function panelSvg(panel: ChartPanel, top: number, place: (x: number) => number): readonly string[] {
  const { title, lines } = panel;
  const { plotTop, plotBottom } = plotOf(panel, top);
  const { ticks, share } = yScale(panel);
  const yOf = (y: number): number => plotBottom - share(y) * (plotBottom - plotTop);
  return [
    `<text x="${LEFT}" y="${top + 20}">${escapeXml(title)}</text>`,
    ...ticks.map(
      (y, i) =>
        `<line class="${i === 0 ? "a" : "g"}" x1="${LEFT}" x2="${WIDTH - RIGHT}" y1="${round(yOf(y))}" y2="${round(yOf(y))}"/>` +
        `<text x="${LEFT - 8}" y="${round(yOf(y) + 4)}" text-anchor="end">${escapeXml(formatNumber(y))}</text>`,
    ),
    ...lines.flatMap(({ name, colour: index, isDashed, points }, i) => {
      const colour = COLOURS[index % COLOURS.length] ?? "";
      const dash = isDashed ? ' stroke-dasharray="6 4"' : "";
      const at = points
        .filter(({ y }) => panel.scale !== "logarithmic" || y > 0)
        .toSorted((a, b) => a.x - b.x)
        .map(({ x, y }) => [round(place(x)), round(yOf(y))] as const);
      const left = LEFT + (i % LEGEND_COLUMNS) * LEGEND_ENTRY_WIDTH;
      const row = top + 36 + Math.floor(i / LEGEND_COLUMNS) * LEGEND_ROW_HEIGHT;
      return [
        `<polyline fill="none" stroke="${colour}" stroke-width="2"${dash} points="${at.map((xy) => xy.join(",")).join(" ")}"/>`,
        ...(at.length > DOTS_MAX ? [] : at).map(([x, y]) => `<circle cx="${x}" cy="${y}" r="3.5" fill="${colour}"/>`),
        `<line x1="${left}" x2="${left + 18}" y1="${row}" y2="${row}" stroke="${colour}" stroke-width="3"${dash}/>`,
        `<text x="${left + 24}" y="${row + 4}">${escapeXml(name)}</text>`,
      ];
    }),
  ];
}

/** The lines of a panel's grid, the lowest first, and how far up a figure is, from 0 to 1. */
function yScale({ lines, scale }: ChartPanel): {
  readonly ticks: readonly number[];
  readonly share: (y: number) => number;
} {
  const ys = lines.flatMap(({ points }) => points.map(({ y }) => y));
  if (scale === "logarithmic") {
    const powers = ys.filter((y) => y > 0).map(Math.log10);
    const [least = 0, most = 0] = powers.length === 0 ? [] : [Math.min(...powers), Math.max(...powers)];
    const bottom = Math.floor(least);
    const top = Math.max(bottom + 1, Math.ceil(most));
    return {
      ticks: Array.from({ length: top - bottom + 1 }, (_, i) => 10 ** (bottom + i)),
      share: (y) => (Math.log10(y) - bottom) / (top - bottom),
    };
  }
  const step = niceStep(Math.max(0, ...ys) / Y_TICKS);
  const ceiling = Math.max(step, Math.ceil(Math.max(0, ...ys) / step) * step);
  return {
    ticks: Array.from({ length: Math.round(ceiling / step) + 1 }, (_, i) => i * step),
    share: (y) => y / ceiling,
  };
}

/**
 * From a point to its place; a logarithmic axis gives zero a place of its own, left of the least.
 */
function xPlace(xs: readonly number[], scale: Chart["axis"]["scale"]): (x: number) => number {
  const leastAboveZero = xs.find((x) => x > 0) ?? 1;
  const of = (x: number): number => {
    if (scale === "linear") return x;
    return x > 0 ? Math.log10(x) : Math.log10(leastAboveZero) - 1;
  };
  const first = of(xs[0] ?? 0);
  const span = of(xs.at(-1) ?? 0) - first;
  const left = LEFT + 16;
  const right = WIDTH - RIGHT - 16;
  return (x) => (span === 0 ? (left + right) / 2 : left + ((of(x) - first) / span) * (right - left));
}

/** 1, 2 or 5 times a power of ten, not below what is asked for. */
function niceStep(least: number): number {
  if (!(least > 0)) return 1;
  const power = 10 ** Math.floor(Math.log10(least));
  return ([1, 2, 5].find((factor) => factor * power >= least) ?? 10) * power;
}

/** The points themselves where there are few, else round numbers among them. */
function xTicks(xs: readonly number[], scale: Chart["axis"]["scale"]): readonly number[] {
  const [first = 0] = xs;
  const last = xs.at(-1) ?? first;
  if (xs.length <= X_TICKS_MAX || scale === "logarithmic") {
    const every = Math.ceil(xs.length / X_TICKS_MAX);
    return xs.filter((_, i) => i % every === 0);
  }
  const step = niceStep((last - first) / X_TICKS_MAX);
  const from = Math.ceil(first / step);
  return Array.from({ length: Math.floor(last / step) - from + 1 }, (_, i) => (from + i) * step);
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}

function escapeXml(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
}
