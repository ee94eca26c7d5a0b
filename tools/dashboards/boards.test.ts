import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ALERT_RULES } from "../alerts/alert-rules.ts";
import { unknownMetricsOf } from "../alerts/unknown-metrics.ts";
import { ROOT } from "../pack/public-packages.ts";
import { PROCESS_EVENTS } from "../reference-pages/process-events.ts";
import type { Board } from "./board.ts";
import { BOARDS } from "./boards.ts";
import { grafanaJson } from "./grafana-json.ts";

const panelsOf = ({ rows }: Board) => rows.flatMap(({ panels }) => panels);

/** Everything that boards and alerts say to an operator. */
const TEXTS = [
  ...ALERT_RULES.map(({ name, summary, remedy }) => [name, `${summary} ${remedy}`] as const),
  ...BOARDS.flatMap((board) =>
    panelsOf(board).map(
      ({ title, shows = "", bad, remedy }) => [`${board.title}: ${title}`, `${shows} ${bad} ${remedy}`] as const,
    ),
  ),
];

test.each(BOARDS.map((board) => [board.uid, board] as const))(
  "deploy/grafana/%s.json is what its table says",
  (uid, board) => {
    expect(readFileSync(join(ROOT, "deploy/grafana", `${uid}.json`), "utf8")).toBe(grafanaJson(board));
  },
);

test("metrics that no server has are found", () => {
  expect(unknownMetricsOf("rate(readlatency_count[5m]) / zooid_made_up > up")).toEqual(["zooid_made_up"]);
});

test("every metric of a board is one that a server has", () => {
  const unknown = BOARDS.flatMap((board) =>
    panelsOf(board).flatMap(({ title, queries }) =>
      Object.values(queries).flatMap((query) => unknownMetricsOf(query).map((name) => `${title}: ${name}`)),
    ),
  );
  expect(unknown).toEqual([]);
});

test("every series of a board is that of its ensemble, or of its server", () => {
  const others = BOARDS.flatMap((board) => {
    const labels = board.isOfOneServer ? 'job="$job",instance="$instance"' : 'job="$job"';
    return panelsOf(board).flatMap(({ queries }) =>
      Object.values(queries).filter((query) =>
        (query.match(/\{[^}]*\}/g) ?? []).some((selector) => !selector.startsWith(`{${labels}`)),
      ),
    );
  });
  expect(others).toEqual([]);
});

test("titles of a board are different, and each panel says what is bad and what to do", () => {
  for (const board of BOARDS) {
    const titles = panelsOf(board).map(({ title }) => title);
    expect(titles.length).toBe(new Set(titles).size);
  }
  const unfinished = BOARDS.flatMap(panelsOf).filter(({ bad, remedy }) => !bad.endsWith(".") || !remedy.endsWith("."));
  expect(unfinished.map(({ title }) => title)).toEqual([]);
});

test("pages and headings that boards and alerts name are there", () => {
  const missing = TEXTS.flatMap(([name, text]) =>
    [...text.matchAll(/\b((?:docs|apps)\/[\w/-]+\.md)(?:, ([\w ]+))?/g)].flatMap(([, page = "", heading]) => {
      const headings = [...readFileSync(join(ROOT, page), "utf8").matchAll(/^#+ (.*)$/gm)];
      const isThere = headings.some(([, each = ""]) => each.toLowerCase() === heading?.toLowerCase());
      return heading === undefined || isThere ? [] : [`${name}: ${page}, ${heading}`];
    }),
  );
  expect(missing).toEqual([]);
});

test("events of the log that boards and alerts name are written", () => {
  const unknown = TEXTS.flatMap(([name, text]) =>
    [...text.matchAll(/\blines? (?!of\b)([a-z-]+)((?: and [a-z]+-[a-z-]+)?)/g)].flatMap(([, first = "", second = ""]) =>
      [first, second.replace(" and ", "")]
        .filter((event) => event !== "" && !(event in PROCESS_EVENTS))
        .map((event) => `${name}: ${event}`),
    ),
  );
  expect(unknown).toEqual([]);
});
