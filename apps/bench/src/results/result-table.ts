import Table from "cli-table3";
import { type ComparedPoint, describeDifference, formatSpread } from "./comparison.ts";
import { formatNumber } from "./format.ts";
import { mainLatency, type PointReport } from "./point-report.ts";
import type { Timeline } from "./timeline.ts";

const BLIND =
  "closed loop: blind to stalls. While a server stalls it is asked nothing, so percentiles do not show what a stall does; --rate does.";

/** The points of a run as a table, and below it what must be known to read it. */
export function resultTable(points: readonly PointReport[]): string {
  const table = plainTable(["", "loop", "", "p50 ms", "p90", "p99", "p99.9", "p99.99", "max", "mean", "errors"], 2);
  for (const point of points) {
    const latency = mainLatency(point);
    const ms = (us: number | undefined): string => (us === undefined ? "" : milliseconds(us));
    table.push([
      point.point,
      point.isBlindToStalls && point.loop.startsWith("closed") ? `${point.loop} ¹` : point.loop,
      `${formatSpread(point.value)} ${point.unit}`,
      ...[latency?.p50, latency?.p90, latency?.p99, latency?.p999, latency?.p9999, latency?.max, latency?.mean].map(ms),
      errorText(point),
    ]);
  }
  return [table.toString(), ...remarks(points), ...points.flatMap(({ timelines }) => timelines.flatMap(courseOf))].join(
    "\n",
  );
}

/** A load from moment to moment, a line for each slice. */
function courseOf({ sliceMs, answered, errors, worstMs, events }: Timeline): readonly string[] {
  const kinds = Object.keys(answered);
  const table = plainTable(["s", ...kinds.map((kind) => `${kind}s/s`), "errors/s", "longest wait ms", ""], 0);
  for (const [i, worst] of worstMs.entries()) {
    const perSecond = (counts: readonly number[] | undefined): string =>
      formatNumber(((counts?.[i] ?? 0) * 1000) / sliceMs);
    const here = events.filter(({ atMs }) => Math.floor(atMs / sliceMs) === i).map(({ label }) => label);
    table.push([
      ((i * sliceMs) / 1000).toFixed(3),
      ...kinds.map((kind) => perSecond(answered[kind])),
      perSecond(errors),
      formatNumber(worst),
      here.join(", "),
    ]);
  }
  return ["", table.toString()];
}

/** Two sides as a table: figures, their ratio A to B, and whether it means anything. */
export function comparisonTable(
  points: readonly ComparedPoint[],
  names: { readonly a: string; readonly b: string },
): string {
  const table = plainTable(
    ["", "loop", names.a, names.b, "", `${names.a} / ${names.b}`, "p50 ratio", "p99 ratio", ""],
    2,
  );
  for (const { point, a, b, ratio, p50Ratio, p99Ratio, difference } of points) {
    table.push([
      point,
      a.isBlindToStalls && a.loop.startsWith("closed") ? `${a.loop} ¹` : a.loop,
      formatNumber(a.value.median),
      formatNumber(b.value.median),
      a.unit,
      formatSpread(ratio),
      p50Ratio === undefined ? "" : formatSpread(p50Ratio),
      p99Ratio === undefined ? "" : formatSpread(p99Ratio),
      describeDifference(difference, names),
    ]);
  }
  const titled = (name: string, of: (point: ComparedPoint) => PointReport): readonly PointReport[] =>
    points.map((point) => ({ ...of(point), point: `${name}, ${point.point}` }));
  return [table.toString(), ...remarks([...titled(names.a, ({ a }) => a), ...titled(names.b, ({ b }) => b)])].join(
    "\n",
  );
}

function remarks(points: readonly PointReport[]): readonly string[] {
  return [
    ...(points.some(({ isBlindToStalls, loop }) => isBlindToStalls && loop.startsWith("closed")) ? [`¹ ${BLIND}`] : []),
    ...points.flatMap(({ point, generator }) =>
      generator.doubts.map((doubt) => `${point}: the generator was what was measured: ${doubt}.`),
    ),
    ...points.flatMap(({ point, figures }) => {
      const all = Object.entries(figures).map(([name, value]) => `${name} ${formatNumber(value)}`);
      return all.length === 0 ? [] : [`${point}: ${all.join(", ")}.`];
    }),
    ...points.flatMap(({ point, latencies }) => {
      const others = Object.entries(latencies).slice(1);
      return others.map(
        ([kind, { p50, p99, max }]) =>
          `${point}, ${kind}: p50 ${milliseconds(p50)} ms, p99 ${milliseconds(p99)}, max ${milliseconds(max)}.`,
      );
    }),
    ...points.flatMap(({ point, notes }) => notes.map((note) => `${point}: ${note}.`)),
  ];
}

function milliseconds(us: number): string {
  return formatNumber(us / 1000);
}

function errorText({ errors, errorPercent }: PointReport): string {
  const codes = Object.entries(errors);
  if (codes.length === 0) return "0";
  return `${formatNumber(errorPercent)} %: ${codes.map(([code, count]) => `${count} ${code}`).join(", ")}`;
}

function plainTable(head: readonly string[], wordColumns: number): Table.Table {
  const none = "";
  return new Table({
    head: [...head],
    colAligns: head.map((_, i) => (i < wordColumns || i === head.length - 1 ? "left" : "right")),
    style: { head: [], border: [], compact: true, "padding-left": 0, "padding-right": 2 },
    chars: {
      top: none,
      "top-mid": none,
      "top-left": none,
      "top-right": none,
      bottom: none,
      "bottom-mid": none,
      "bottom-left": none,
      "bottom-right": none,
      left: none,
      "left-mid": none,
      mid: none,
      "mid-mid": none,
      right: none,
      "right-mid": none,
      middle: none,
    },
  });
}
