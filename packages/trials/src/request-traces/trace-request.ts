/**
 * Counts the calls of one request in a server that has nothing else to do, by V8's precise
 * coverage.
 *
 *     npm run tool -- trace-request [--functions TRACE]
 *
 * Prints files, functions and calls of a write, a read, a watch and its event on one server, and of
 * a write at a follower of three, in the follower and in the leader; once for all packages and once
 * for those that control a request: server, replica, zab, and txn-log's `log/`. There getters are
 * counted apart. --functions prints each function of a trace with its calls.
 */
import { parseArgs } from "node:util";
import { type CallCount, type CallCounts, isGetter } from "./call-counts.ts";
import { isControl, turnsOf } from "./control-packages.ts";
import { type RequestTraces, traceRequests } from "./request-traces.ts";

const { values } = parseArgs({ options: { functions: { type: "string", multiple: true, default: [] } } });
const traces = await traceRequests();
const names = Object.keys(traces) as (keyof RequestTraces)[];
const unknown = values.functions.find((name) => !names.some((known) => known === name));
if (unknown !== undefined) {
  console.error(`--functions is one of ${names.join(", ")}, not ${unknown}`);
  process.exit(2);
}

console.log(
  "| trace | turns | files | functions | calls | of these getters | control files | functions | calls | getter calls |",
);
console.log("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |");
for (const name of names) console.log(`| ${[name, ...figuresOf(traces[name].common)].join(" | ")} |`);
for (const name of names.filter((known) => values.functions.includes(known))) {
  console.log(`\n${name}`);
  const calls = [...traces[name].common.values()].sort((a, b) => (a.file < b.file ? -1 : a.file > b.file ? 1 : 0));
  for (const { file, name: of, count } of calls) console.log(`${count} ${file}:${of}`);
}

function figuresOf(trace: CallCounts): readonly number[] {
  const all = [...trace.values()];
  const control = all.filter(isControl);
  const plain = control.filter((call) => !isGetter(call));
  const getters = control.filter(isGetter);
  return [
    turnsOf(trace),
    ...[filesOf(all), all.length, sum(all), sum(all.filter(isGetter))],
    ...[filesOf(plain), plain.length, sum(plain), sum(getters)],
  ];
}

function filesOf(calls: readonly CallCount[]): number {
  return new Set(calls.map(({ file }) => file)).size;
}

function sum(calls: readonly CallCount[]): number {
  return calls.reduce((total, { count }) => total + count, 0);
}
