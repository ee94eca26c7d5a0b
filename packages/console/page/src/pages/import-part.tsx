import { useEffect, useRef, useState } from "preact/hooks";
import type { ImportOutcome, ImportRequestJson, ImportResultJson } from "../../../src/api/subtree-shapes.ts";
import { api, textOf } from "../model/api.ts";
import { sizeText, visible } from "../model/formats.ts";
import { nodeHash } from "../model/place.ts";
import type { Progress } from "../model/progress.ts";
import { chunksOf } from "../model/subtree-file.ts";
import { Failure } from "../parts/failure.tsx";
import { Icon } from "../parts/icon.tsx";
import { ProgressBar } from "../parts/progress-bar.tsx";

type Result = ImportResultJson["results"][number];
type Settings = Omit<ImportRequestJson, "nodes" | "isDryRun">;

interface Summary {
  readonly isDryRun: boolean;
  readonly counts: Readonly<Record<ImportOutcome, number>>;
  /** The first nodes that are replaced or refused. */
  readonly listed: readonly Result[];
}

const LISTED_MAX = 200;
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
        <label>
          To the node
          <input
            required
            pattern="/.*"
            spellcheck={false}
            value={settings.path}
            onInput={(event) => change({ path: event.currentTarget.value })}
          />
        </label>
        <label>
          Nodes that are there already
          <select
            value={settings.existing}
            onChange={(event) => change({ existing: event.currentTarget.value === "replace" ? "replace" : "keep" })}
          >
            <option value="keep">are kept</option>
            <option value="replace">get the data of the file</option>
          </select>
        </label>
        <label class="inline">
          <input
            type="checkbox"
            checked={settings.withAcl}
            onChange={(event) => change({ withAcl: event.currentTarget.checked })}
          />
          With the access lists of the file; without, new nodes are open to everyone
        </label>
        <div class="toolbar">
          <button
            type="submit"
            class={isPlanned ? "" : "primary"}
            disabled={progress !== undefined || file === undefined}
          >
            Dry run
          </button>
          {isPlanned && writeCount > 0 && (
            <button type="button" class="primary" disabled={progress !== undefined} onClick={() => start(false)}>
              Write {writeCount.toLocaleString()} nodes
            </button>
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
        <section class="table-scroll" tabIndex={0} aria-label="Replaced and refused nodes">
          <table>
            <thead>
              <tr>
                <th scope="col">Node</th>
                <th scope="col">Outcome</th>
                <th scope="col">Reason</th>
              </tr>
            </thead>
            <tbody>
              {listed.map(({ path, outcome, detail }) => (
                <tr key={path}>
                  <td>
                    <a href={nodeHash(path)}>{visible(path)}</a>
                  </td>
                  <td>{of(outcome)}</td>
                  <td>{visible(detail ?? "")}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </section>
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
