import { writeFileSync } from "node:fs";
import type { Workload } from "../bench.ts";
import type { OutputOptions } from "../command-line.ts";
import type { ServerFacts } from "../connections/server-facts.ts";
import { checkLines } from "./check-verdict.ts";
import { formatNumber } from "./format.ts";
import type { MachineFacts } from "./machine-facts.ts";
import type { Result } from "./result.ts";
import { type ChartSide, resultChart } from "./result-chart.ts";
import { comparisonTable, resultTable } from "./result-table.ts";

/** Writes a result to wherever it was asked for; returns what belongs on stdout. */
export function writeResult(result: Result, workload: Workload, { json, svg }: OutputOptions): string {
  const text = JSON.stringify(result, null, 2);
  if (json !== undefined && json !== "-") writeFileSync(json, `${text}\n`);
  if (svg !== undefined) writeFileSync(svg, resultChart(workload, sidesOf(result), result.machine.system));
  return json === "-" ? text : resultText(result);
}

export function resultText(result: Result): string {
  switch (result.kind) {
    case "run":
      return [...heading(result, result.servers.flat()), resultTable(result.points)].join("\n");
    case "check":
      return [
        ...heading(result, result.servers.flat()),
        resultTable(result.points),
        "",
        ...checkLines(result.criteria),
      ].join("\n");
    case "compare": {
      const { a, b, points } = result;
      const servers = [...a.servers.map(named(a.name)), ...b.servers.map(named(b.name))];
      return [...heading(result, servers), comparisonTable(points, { a: a.name, b: b.name })].join("\n");
    }
    case "calibrate":
      return [
        ...heading(result, result.servers.flat()),
        ...(result.measured.length === 0 ? [] : ["Measured:", resultTable(result.measured), ""]),
        "The generator, against a server that does nothing:",
        resultTable(result.generator),
        ...result.headroom.map(
          ({ point, factor }) =>
            `${point}: the generator alone reaches ${formatNumber(factor)} times what was measured${factor < HEADROOM_MIN ? ", which is too little to be sure that it is not what was measured" : ""}.`,
        ),
      ].join("\n");
  }
}

/** A generator that is not this far above what it measures leaves a doubt. */
const HEADROOM_MIN = 3;

function sidesOf(result: Result): readonly ChartSide[] {
  switch (result.kind) {
    case "run":
    case "check":
      return [{ name: "", points: result.points }];
    case "compare":
      return [
        { name: result.a.name, points: result.points.map(({ a }) => a) },
        { name: result.b.name, points: result.points.map(({ b }) => b) },
      ];
    case "calibrate":
      return [
        { name: "generator", points: result.generator },
        ...(result.measured.length === 0 ? [] : [{ name: "measured", points: result.measured }]),
      ];
  }
}

function named(name: string): (facts: ServerFacts) => ServerFacts {
  return (facts) => ({ ...facts, host: `${name} ${facts.host}` });
}

function heading(
  { workload, machine, config }: { workload: string; machine: MachineFacts; config: Result["config"] },
  servers: readonly ServerFacts[],
): readonly string[] {
  const { warmupMs, durationMs, repeats, seed } = config;
  return [
    `${workload}: ${durationMs / 1000} s a point after ${warmupMs / 1000} s of warm-up, ${repeats} ${repeats === 1 ? "run" : "runs"}, seed ${seed}`,
    `${machine.bench}, Node.js ${machine.node}, ${machine.system}, ${machine.cores} cores (${machine.cpu})`,
    ...servers.map(({ host, version, role }) => `${host}: ${version} (${role})`),
    "",
  ];
}
