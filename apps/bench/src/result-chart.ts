import type { Workload } from "./bench.ts";
import { type Chart, type ChartLine, type ChartPanel, chartSvg } from "./chart-svg.ts";
import { mainLatency, type PointReport } from "./point-report.ts";

/** One side of a chart: a run, or one of two that are compared. */
export interface ChartSide {
  /** Empty when there is one side only. */
  readonly name: string;
  readonly points: readonly PointReport[];
}

/** The figures, and the latencies below them, of one side or more. */
export function resultChart({ name, axis }: Workload, sides: readonly ChartSide[], subtitle: string): string {
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
