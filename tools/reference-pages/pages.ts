import { FINDING_KINDS } from "@zooid/doctor";
import { PROCESS_EVENTS } from "./process-events.ts";
import { settingLines } from "./settings-table.ts";

/** A page of docs that is made from the code. */
export interface ReferencePage {
  /** In docs. */
  readonly file: string;
  readonly text: string;
}

export function referencePages(): readonly ReferencePage[] {
  return [
    { file: "settings.md", text: settingsPage() },
    { file: "log-events.md", text: eventsPage() },
    { file: "findings.md", text: findingsPage() },
  ];
}

function settingsPage(): string {
  const rows = settingLines().map(({ key, defaultValue, unit, change, note }) => [
    `\`${key}\``,
    defaultValue,
    unit,
    change,
    note,
  ]);
  return `# Settings

All keys of zoo.cfg.
[Operations](operations.md), [security](security.md) and [zooid-server](../apps/server/README.md) explain them.
A change takes effect where the last but one column says: at SIGHUP, which \`zooid-cli reload\` is too, or at the next start.
A key that is not here is named at the start; one that is nearly one of these and decides about votes, access, addresses or durability ends it, and so does every unknown one with \`zooid.unknownKeys=refuse\`.
\`*\` stands for any ending of a key.

This page is made from the code by \`npm run tool -- reference-pages\`.

${table(["key", "default", "unit", "a change takes effect at", "remark"], rows)}`;
}

function eventsPage(): string {
  const rows = Object.entries(PROCESS_EVENTS)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([event, text]) => [`\`${event}\``, text]);
  return `# Events of the log

Every line of the log has an \`event\`, one of these.
Alerts and searches go by it: sentences change between versions.
[Operations](operations.md#log-lines-as-json) has the other fields.

This page is made from the code by \`npm run tool -- reference-pages\`.

${table(["event", "written when"], rows)}`;
}

function findingsPage(): string {
  const rows = Object.entries(FINDING_KINDS)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([id, { severity, consequence }]) => [`\`${id}\``, severity, consequence]);
  return `# Findings

What \`zooid-server check\` finds on a machine, \`zooid-cli doctor\` in an ensemble and \`zooid-cli migrate check\` in an ensemble of Apache's, by its id.
An error affects clients or data now, or stands in the way of a move; a warning does so after an ordinary failure, or in time.
[Operations](operations.md#what-is-wrong) says how the first two are called, [moving in](moving-in.md) the third.

This page is made from the code by \`npm run tool -- reference-pages\`.

${table(["id", "severity", "why it matters"], rows)}`;
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |\n`;
  return [line(head), line(head.map(() => "---")), ...rows.map(line)].join("");
}
