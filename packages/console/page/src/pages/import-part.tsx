import { useEffect, useRef, useState } from "preact/hooks";
import type { ImportOutcome, ImportRequestJson, ImportResultJson } from "../../../src/api/subtree-shapes.ts";
import { api, textOf } from "../model/api.ts";
import { sizeText, visible } from "../model/formats.ts";
import { chunksOf } from "../model/import-chunks.ts";
import type { Progress } from "../model/progress.ts";
import { Button } from "../parts/button.tsx";
import { Failure } from "../parts/failure.tsx";
import { CheckField, SelectField, TextField } from "../parts/fields.tsx";
import { Icon } from "../parts/icon.tsx";
import { NodeLink } from "../parts/links.tsx";
import { ProgressBar } from "../parts/progress-bar.tsx";
import { Table } from "../parts/table.tsx";

type Result = ImportResultJson["results"][number];
type Settings = Omit<ImportRequestJson, "nodes" | "isDryRun">;

interface Summary {
  readonly isDryRun: boolean;
  readonly counts: Readonly<Record<ImportOutcome, number>>;
  /** The first nodes that are replaced or refused. */
  readonly listed: readonly Result[];
}

const LISTED_MAX = 200;
const EXISTING = [
  { id: "keep", label: "are kept" },
  { id: "replace", label: "get the data of the file" },
] as const;
const NOTHING: Summary["counts"] = { create: 0, replace: 0, same: 0, keep: 0, refuse: 0 };
const OUTCOMES: Readonly<Record<ImportOutcome, readonly [planned: string, done: string]>> = {
  create: ["would be created", "created"],
  replace: ["would be replaced", "replaced"],
  same: ["are the same already", "were the same already"],
  keep: ["are there already and would be kept", "were there already and are kept"],
  refuse: ["would be refused", "refused"],
};

/** Writes the nodes of a file, after a dry run of the same file with the same settings. */
export function ImportPart({ initialPath }: { readonly initialPath: string }) {
  const [file, setFile] = useState<File>();
  const [settings, setSettings] = useState<Settings>({ path: initialPath, existing: "keep", withAcl: false });
  const [progress, setProgress] = useState<Progress>();
  const [summary, setSummary] = useState<Summary>();
  const [error, setError] = useState<string>();
  const stop = useRef<AbortController | undefined>(undefined);
  useEffect(() => () => stop.current?.abort(), []);
  const change = (changed: Partial<Settings>): void => {
    setSettings({ ...settings, ...changed });
    // What the dry run said is not about these settings.
    setSummary(undefined);
  };
  const start = (isDryRun: boolean): void => {
    if (file === undefined) return;
    const stopping = new AbortController();
    stop.current = stopping;
    setSummary(undefined);
    setError(undefined);
    run(file, { settings, isDryRun, signal: stopping.signal, report: setProgress })
      .then(setSummary, (reason: unknown) => setError(stopping.signal.aborted ? stoppedText(isDryRun) : textOf(reason)))
      .finally(() => setProgress(undefined));
  };
  const isPlanned = summary?.isDryRun === true;
  const writeCount = summary === undefined ? 0 : summary.counts.create + summary.counts.replace;
  return (
    <section class="card" aria-label="Import">
      <h2>Import</h2>
      <form
        class="stacked"
        onSubmit={(event) => {
          event.preventDefault();
          start(true);
        }}
      >
        <label>
          File
          <input
            type="file"
            required
            onChange={(event) => {
              setFile(event.currentTarget.files?.[0]);
              setSummary(undefined);
            }}
          />
        </label>
        <TextField
          label="To the node"
          required
          pattern="/.*"
          spellcheck={false}
          value={settings.path}
          onText={(path) => change({ path })}
        />
        <SelectField
          label="Nodes that are there already"
          value={settings.existing}
          options={EXISTING}
          onChange={(existing) => change({ existing })}
        />
        <CheckField
          label="With the access lists of the file; without, new nodes are open to everyone"
          isChecked={settings.withAcl}
          onChange={(withAcl) => change({ withAcl })}
        />
        <div class="toolbar">
          <Button
            text="Dry run"
            type="submit"
            class={isPlanned ? "" : "primary"}
            disabled={progress !== undefined || file === undefined}
          />
          {isPlanned && writeCount > 0 && (
            <Button
              text={`Write ${writeCount.toLocaleString()} nodes`}
              class="primary"
              disabled={progress !== undefined}
              onClick={() => start(false)}
            />
          )}
        </div>
      </form>
      {progress !== undefined && (
        <ProgressBar label="Import" progress={progress} unit="characters" onCancel={() => stop.current?.abort()} />
      )}
      <Failure text={error} />
      {summary !== undefined && <SummaryView summary={summary} />}
      {file !== undefined && summary === undefined && progress === undefined && (
        <p class="hint">{sizeText(file.size)}. A dry run comes first, and writes nothing.</p>
      )}
    </section>
  );
}

function SummaryView({ summary: { isDryRun, counts, listed } }: { readonly summary: Summary }) {
  const of = (outcome: ImportOutcome): string => OUTCOMES[outcome][isDryRun ? 0 : 1];
  const outcomes = (Object.keys(OUTCOMES) as ImportOutcome[]).filter((outcome) => counts[outcome] > 0);
  return (
    <section class="import-summary" aria-label={isDryRun ? "Dry run" : "Imported"}>
      <div class={`banner ${counts.refuse > 0 ? "warning" : "good"}`} role="status">
        <Icon name={counts.refuse > 0 ? "warning" : "check"} />
        <div>
          <strong>{isDryRun ? "Nothing is written yet." : "The import is done."}</strong>
          <ul class="plain">
            {outcomes.map((outcome) => (
              <li key={outcome}>
                {counts[outcome].toLocaleString()} {of(outcome)}
              </li>
            ))}
          </ul>
        </div>
      </div>
      {listed.length > 0 && (
        <Table
          label="Replaced and refused nodes"
          columns={[
            { head: "Node", cell: ({ path }) => <NodeLink path={path} /> },
            { head: "Outcome", cell: ({ outcome }) => of(outcome) },
            { head: "Reason", cell: ({ detail }) => visible(detail ?? "") },
          ]}
          rows={listed}
          keyOf={({ path }) => path}
        />
      )}
    </section>
  );
}

interface Running {
  readonly settings: Settings;
  readonly isDryRun: boolean;
  readonly signal: AbortSignal;
  report(progress: Progress): void;
}

async function run(file: File, { settings, isDryRun, signal, report }: Running): Promise<Summary> {
  const startMs = performance.now();
  const counts = { ...NOTHING };
  const listed: Result[] = [];
  for await (const { nodes, readCount } of chunksOf(textPieces(file))) {
    const { results } = await api.importNodes({ ...settings, isDryRun, nodes: [...nodes] }, signal);
    for (const result of results) {
      counts[result.outcome]++;
      const isListed = result.outcome === "refuse" || result.outcome === "replace";
      if (isListed && listed.length < LISTED_MAX) listed.push(result);
    }
    report({ doneCount: readCount, total: file.size, elapsedMs: performance.now() - startMs });
  }
  return { isDryRun, counts, listed };
}

async function* textPieces(file: File): AsyncGenerator<string, void, undefined> {
  const reader = file
    .stream()
    .pipeThrough(new TextDecoderStream("utf-8", { fatal: true }))
    .getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    yield value;
  }
}

function stoppedText(isDryRun: boolean): string {
  return isDryRun ? "Stopped." : "Stopped. What is written stays: the same import continues from there.";
}
