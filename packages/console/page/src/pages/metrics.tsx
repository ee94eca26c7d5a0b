import { useEffect, useMemo, useRef } from "preact/hooks";
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import type { MetricsJson } from "../../../src/api/shapes.ts";
import { api } from "../model/api.ts";
import { isDark } from "../model/theme.ts";
import { Failure } from "../parts/failure.tsx";
import { usePolled } from "../parts/use-polled.ts";

const POLL_MS = 10_000;
const HEIGHT = 180;
const CHARTS = [
  { name: "requests", title: "Requests a second" },
  { name: "transactions", title: "Transactions a second" },
  { name: "latency", title: "Average latency, ms" },
  { name: "connections", title: "Connections" },
  { name: "outstanding", title: "Outstanding requests" },
  { name: "nodes", title: "Nodes" },
] as const;
const LIGHT = ["#0f766e", "#b45309", "#6d28d9", "#be123c", "#1d4ed8", "#4d7c0f", "#a21caf"];
const DARK = ["#2dd4bf", "#fbbf24", "#c4b5fd", "#fb7185", "#93c5fd", "#bef264", "#f0abfc"];

export function MetricsPage() {
  const { value, error } = usePolled(api.metrics, POLL_MS);
  return (
    <section class="page">
      <h1>Metrics</h1>
      <p class="hint">The last hour, a sample every ten seconds, kept in the console's memory.</p>
      <Failure text={error} />
      {value !== undefined && value.times.length < 2 && (
        <p class="hint">The first samples follow within twenty seconds.</p>
      )}
      {value !== undefined && (
        <div class="charts">
          {CHARTS.map(({ name, title }) => (
            <Chart key={name} name={name} title={title} metrics={value} />
          ))}
        </div>
      )}
    </section>
  );
}

interface ChartProps {
  readonly name: string;
  readonly title: string;
  readonly metrics: MetricsJson;
}

function Chart({ name, title, metrics }: ChartProps) {
  const place = useRef<HTMLDivElement>(null);
  const series = useMemo(() => metrics.series.filter((each) => each.name === name), [metrics, name]);
  useEffect(() => {
    const element = place.current;
    if (element === null) return;
    const dark = isDark();
    const [colors, lines, text] = dark ? [DARK, "#27353d", "#a9bac3"] : [LIGHT, "#dde5e8", "#46565e"];
    const axis = { stroke: text, grid: { stroke: lines, width: 1 }, ticks: { stroke: lines, width: 1 } };
    const chart = new uPlot(
      {
        width: element.clientWidth,
        height: HEIGHT,
        legend: { show: false },
        cursor: { y: false },
        series: [
          {},
          ...series.map(({ member }, i) => ({ label: member, stroke: colors[i % colors.length] ?? text, width: 1.5 })),
        ],
        axes: [axis, { ...axis, size: 60 }],
        scales: { y: { range: (_chart, _low, high) => [0, high > 0 ? high * 1.1 : 1] } },
      },
      [[...metrics.times], ...series.map(({ values }) => [...values])],
      element,
    );
    const resized = new ResizeObserver(() => chart.setSize({ width: element.clientWidth, height: HEIGHT }));
    resized.observe(element);
    return () => {
      resized.disconnect();
      chart.destroy();
    };
  }, [metrics, series]);
  return (
    <figure class="card chart">
      <figcaption>{title}</figcaption>
      <div ref={place} class="plot" aria-hidden="true" />
      <ul class="legend">
        {series.map(({ member, values }, i) => (
          <li key={member}>
            <span class={`swatch swatch-${i % LIGHT.length}`} aria-hidden="true" />
            {member}: <strong>{lastText(values)}</strong>
          </li>
        ))}
      </ul>
    </figure>
  );
}

function lastText(values: readonly (number | null)[]): string {
  const last = values.at(-1);
  return last === null || last === undefined
    ? "–"
    : new Intl.NumberFormat(undefined, { maximumFractionDigits: 1 }).format(last);
}
