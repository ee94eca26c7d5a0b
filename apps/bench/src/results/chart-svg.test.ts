import { expect, test } from "vitest";
import { type Chart, chartSvg } from "./chart-svg.ts";

const CHART: Chart = {
  title: "reads & <writes>",
  axis: { label: "share", scale: "linear" },
  panels: [
    {
      title: "requests/s",
      lines: [
        {
          name: "one",
          colour: 0,
          isDashed: false,
          points: [
            { x: 0, y: 0 },
            { x: 50, y: 450 },
            { x: 100, y: 900 },
          ],
        },
        {
          name: "two",
          colour: 1,
          isDashed: false,
          points: [
            { x: 100, y: 100 },
            { x: 0, y: 300 },
          ],
        },
      ],
    },
    { title: "ms", lines: [{ name: "p99", colour: 0, isDashed: true, points: [{ x: 0, y: 1.5 }] }] },
  ],
};

function circles(svg: string): readonly (readonly [x: number, y: number])[] {
  return [...svg.matchAll(/<circle cx="([\d.]+)" cy="([\d.]+)"/g)].map(([, x, y]) => [Number(x), Number(y)] as const);
}

test("every point is drawn once, inside the picture", () => {
  const places = circles(chartSvg(CHART));
  expect(places).toHaveLength(6);
  const [, width = 0, height = 0] = (/viewBox="0 0 (\d+) (\d+)"/.exec(chartSvg(CHART)) ?? []).map(Number);
  for (const [x, y] of places) {
    expect(x).toBeGreaterThan(0);
    expect(x).toBeLessThan(width);
    expect(y).toBeGreaterThan(0);
    expect(y).toBeLessThan(height);
  }
});

test("more is further up, evenly, and zero is at the bottom of its panel", () => {
  const [zero, half, full] = circles(chartSvg(CHART)).map(([, y]) => y);
  expect((zero ?? 0) - (half ?? 0)).toBeCloseTo((half ?? 0) - (full ?? 0), 0);
  expect(half).toBeLessThan(zero ?? 0);
  expect(chartSvg(CHART)).toContain(`class="a" x1="84" x2="736" y1="${zero}"`);
});

test("a line goes from left to right, in whatever order its points came", () => {
  const lines = [...chartSvg(CHART).matchAll(/<polyline [^>]*points="([^"]*)"/g)].map(([, points = ""]) =>
    points.split(" ").map((point) => Number(point.split(",")[0])),
  );
  for (const xs of lines) expect(xs).toEqual(xs.toSorted((a, b) => a - b));
});

test("a logarithmic axis gives each power of ten the same room, and zero a place", () => {
  const points = [0, 1, 10, 100].map((x) => ({ x, y: 1 }));
  const svg = chartSvg({
    ...CHART,
    axis: { label: "bytes", scale: "logarithmic" },
    panels: [{ title: "", lines: [{ name: "", colour: 0, isDashed: false, points }] }],
  });
  const xs = circles(svg).map(([x]) => x);
  const gaps = xs.slice(1).map((x, i) => Math.round(x - (xs[i] ?? 0)));
  expect(new Set(gaps).size).toBe(1);
});

test("a logarithmic panel gives each power of ten the same room, and leaves out what has no place in it", () => {
  const points = [0, 0.5, 5, 50, 500].map((y, x) => ({ x, y }));
  const lines = [{ name: "", colour: 0, isDashed: false, points }];
  const svg = chartSvg({ ...CHART, panels: [{ title: "ms", scale: "logarithmic", lines }] });
  const ys = circles(svg).map(([, y]) => y);
  expect(ys).toHaveLength(4);
  const gaps = ys.slice(1).map((y, i) => Math.round((ys[i] ?? 0) - y));
  expect(new Set(gaps).size).toBe(1);
  expect(gaps[0]).toBeGreaterThan(0);
  for (const power of [">0.1<", ">1<", ">10<", ">100<", ">1,000<"]) expect(svg).toContain(power);
  expect(chartSvg({ ...CHART, panels: [{ title: "", scale: "logarithmic", lines: [] }] })).not.toMatch(/NaN|Infinity/);
});

test("names, axes and legend are there, and nothing in them is markup", () => {
  const svg = chartSvg(CHART);
  for (const text of ["reads &amp; &lt;writes&gt;", "requests/s", "share", ">one<", ">two<", ">p99<", ">800<"])
    expect(svg).toContain(text);
  expect(svg).not.toContain("<writes>");
});

test("a legend of many lines wraps, and nothing of it leaves the picture", () => {
  const lines = Array.from({ length: 9 }, (_, i) => ({
    name: `line ${i}`,
    colour: i,
    isDashed: i > 5,
    points: [{ x: i, y: i }],
  }));
  const svg = chartSvg({ ...CHART, panels: [{ title: "", lines }] });
  const names = [...svg.matchAll(/<text x="(\d+)" y="(\d+)">line \d/g)].map(
    ([, x, y]) => [Number(x), Number(y)] as const,
  );
  expect(new Set(names.map(([, y]) => y)).size).toBe(3);
  expect(Math.max(...names.map(([x]) => x))).toBeLessThan(700);
  const highest = Math.min(...circles(svg).map(([, y]) => y));
  expect(highest).toBeGreaterThan(Math.max(...names.map(([, y]) => y)));
});

test("it has colours for light and for dark", () => {
  expect(chartSvg(CHART)).toContain("@media(prefers-color-scheme:dark)");
});

test("nothing measured is an empty chart, not a failure", () => {
  expect(chartSvg({ ...CHART, panels: [{ title: "", lines: [] }] })).not.toMatch(/NaN|Infinity/);
});

test("marks stand at their place in every panel and are named once", () => {
  const marks = [{ x: 50, label: "leader <lost>" }];
  const svg = chartSvg({ ...CHART, marks });
  const half = circles(svg)[1]?.[0];
  expect(svg.split(`<line class="m" x1="${half}" x2="${half}"`)).toHaveLength(1 + CHART.panels.length);
  expect(svg.split("leader &lt;lost&gt;")).toHaveLength(2);
});

test("a line of very many points is drawn without them", () => {
  const points = Array.from({ length: 600 }, (_, x) => ({ x, y: x }));
  const lines = [{ name: "long", colour: 0, isDashed: false, points }];
  const svg = chartSvg({ ...CHART, panels: [{ title: "ms", lines }] });
  expect(circles(svg)).toHaveLength(0);
  expect(/points="([^"]*)"/.exec(svg)?.[1]?.split(" ")).toHaveLength(600);
});

test("an axis of very many points has round numbers", () => {
  const points = Array.from({ length: 250 }, (_, i) => ({ x: i / 10, y: i }));
  const svg = chartSvg({
    ...CHART,
    panels: [{ title: "ms", lines: [{ name: "s", colour: 0, isDashed: false, points }] }],
  });
  const labels = [...svg.matchAll(/text-anchor="middle">([\d.]+)</g)].map(([, label]) => label);
  expect(labels).toEqual(["0", "5", "10", "15", "20"]);
});
