import type { Workload } from "../bench.ts";
import { type Chart, type ChartLine, type ChartPanel, chartSvg } from "./chart-svg.ts";
import { mainLatency, type PointReport } from "./point-report.ts";
import type { Timeline } from "./timeline.ts";

/** One side of a chart: a run, or one of two that are compared. */
export interface ChartSide {
  /** Empty when there is one side only. */
  readonly name: string;
  readonly points: readonly PointReport[];
}

/** The charts of a result: its course if it has one, else its figures. */
export function resultChart(workload: Workload, sides: readonly ChartSide[], subtitle: string): string {
  const [first] = sides.flatMap(({ points }) => points.flatMap(({ timelines }) => timelines));
  return first === undefined ? figuresChart(workload, sides, subtitle) : timelineChart(workload, first, subtitle);
}

/** The course of a load: answers, errors and the longest wait, slice by slice. */
export function timelineChart(
  { name, axis }: Pick<Workload, "name" | "axis">,
  timeline: Timeline,
  subtitle: string,
): string {
  const { sliceMs, answered, errors, worstMs, events } = timeline;
  const perSecond = 1000 / sliceMs;
  const line = (name: string, colour: number, values: readonly number[], factor: number): ChartLine => ({
    name,
    colour,
    isDashed: false,
    points: values.map((value, i) => ({ x: (i * sliceMs) / 1000, y: value * factor })),
  });
  const answers = Object.entries(answered).map(([kind, counts], i) => line(`${kind}s`, i, counts, perSecond));
  const lost = errors.some((count) => count > 0) ? [line("errors", 5, errors, perSecond)] : [];
  return chartSvg({
    title: `${name}: ${subtitle}`,
    axis,
    panels: [
      { title: `requests/s, in steps of ${sliceMs} ms`, lines: [...answers, ...lost] },
      { title: "longest wait of those answered, ms", lines: [line("longest wait", 3, worstMs, 1)] },
    ],
    marks: events.map(({ atMs, label }) => ({ x: atMs / 1000, label })),
  });
}

/** The figures, and the latencies below them, of one side or more. */
function figuresChart({ name, axis }: Workload, sides: readonly ChartSide[], subtitle: string): string {
  const unit = sides[0]?.points[0]?.unit ?? "";
  const groups = sides.flatMap((side) =>
    [...Map.groupBy(side.points, ({ series }) => series)].map(([series, points]) => ({
      side: side.name,
      series,
      points,
    })),
  );
  const lines = (of: (point: PointReport) => number | undefined, suffix: "" | "p50" | "p99"): readonly ChartLine[] =>
    groups.map(({ side, series, points }, colour) => ({
      name: [side, series, suffix].filter((part) => part !== "").join(" ") || name,
      colour,
      isDashed: suffix === "p50",
      points: points.flatMap((point) => {
        const y = of(point);
        return y === undefined ? [] : [{ x: point.x, y }];
      }),
    }));
  const latency = [
    ...lines((point) => inMs(mainLatency(point)?.p50), "p50"),
    ...lines((point) => inMs(mainLatency(point)?.p99), "p99"),
  ];
  const panels: ChartPanel[] = [{ title: unit, lines: lines(({ value }) => value.median, "") }];
  if (latency.some(({ points }) => points.length > 0)) panels.push({ title: "latency, ms", lines: latency });
  const chart: Chart = { title: `${name}: ${subtitle}`, axis, panels };
  return chartSvg(chart);
}

function inMs(us: number | undefined): number | undefined {
  return us === undefined ? undefined : us / 1000;
}
