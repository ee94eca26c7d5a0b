import { endLine, headerLine, nodeLine } from "@zooid/model/subtree-file";
import { useEffect, useRef, useState } from "preact/hooks";
import type { ExportedNodeJson } from "../../../src/api/subtree-shapes.ts";
import { api, textOf } from "../model/api.ts";
import type { Progress } from "../model/progress.ts";
import { Button } from "../parts/button.tsx";
import { Failure } from "../parts/failure.tsx";
import { CheckField, TextField } from "../parts/fields.tsx";
import { Icon } from "../parts/icon.tsx";
import { ProgressBar } from "../parts/progress-bar.tsx";
import { useMayEdit } from "../parts/session-context.ts";

interface Done {
  readonly url: string;
  readonly nodeCount: number;
  readonly notes: readonly string[];
}

/** Reads a subtree page by page into a file of this browser. */
export function ExportPart({ initialPath }: { readonly initialPath: string }) {
  const [path, setPath] = useState(initialPath);
  const [isRevealed, setRevealed] = useState(false);
  const [progress, setProgress] = useState<Progress>();
  const [done, setDone] = useState<Done>();
  const [error, setError] = useState<string>();
  const stop = useRef<AbortController | undefined>(undefined);
  const mayEdit = useMayEdit();
  useEffect(() => () => stop.current?.abort(), []);
  useEffect(() => (done === undefined ? undefined : () => URL.revokeObjectURL(done.url)), [done]);
  const start = (event: Event): void => {
    event.preventDefault();
    const stopping = new AbortController();
    stop.current = stopping;
    setDone(undefined);
    setError(undefined);
    read(path, { isRevealed, signal: stopping.signal, report: setProgress })
      .then(setDone, (reason: unknown) => setError(stopping.signal.aborted ? "Stopped." : textOf(reason)))
      .finally(() => setProgress(undefined));
  };
  return (
    <section class="card" aria-label="Export">
      <h2>Export</h2>
      <form class="stacked" onSubmit={start}>
        <TextField label="Node" required pattern="/.*" spellcheck={false} value={path} onText={setPath} />
        {mayEdit && (
          <CheckField label="With data that is masked by its name" isChecked={isRevealed} onChange={setRevealed} />
        )}
        <div class="toolbar">
          <Button icon="download" text="Export" type="submit" class="primary" disabled={progress !== undefined} />
        </div>
      </form>
      {progress !== undefined && (
        <ProgressBar label="Export" progress={progress} unit="nodes" onCancel={() => stop.current?.abort()} />
      )}
      <Failure text={error} />
      {done !== undefined && (
        <p class="banner good">
          <Icon name="check" />
          <span>
            {done.nodeCount.toLocaleString()} nodes are exported.{" "}
            <a href={done.url} download="zooid-subtree.jsonl">
              Save the file
            </a>
            {done.notes.map((note) => (
              <span key={note}> {note}</span>
            ))}
          </span>
        </p>
      )}
    </section>
  );
}

interface Reading {
  readonly isRevealed: boolean;
  readonly signal: AbortSignal;
  report(progress: Progress): void;
}

async function read(path: string, { isRevealed, signal, report }: Reading): Promise<Done> {
  const startMs = performance.now();
  // The browser keeps blobs where it likes, also on the disk.
  const parts: Blob[] = [new Blob([headerLine(path, new Date().toISOString())])];
  let [nodeCount, maskedCount, ephemeralCount, unreadableCount] = [0, 0, 0, 0];
  let total: number | undefined;
  for (let after: string | undefined; ; ) {
    const page = await api.exportPage({ path, after, reveal: isRevealed }, signal);
    total ??= page.total ?? undefined;
    parts.push(new Blob(page.nodes.map(lineOf)));
    maskedCount += page.nodes.filter(({ isMasked }) => isMasked).length;
    nodeCount += page.nodes.length;
    ephemeralCount += page.ephemeralCount;
    unreadableCount += page.unreadableCount;
    report({ doneCount: nodeCount, total, elapsedMs: performance.now() - startMs });
    if (page.next === null) break;
    after = page.next;
  }
  parts.push(new Blob([endLine(nodeCount - maskedCount)]));
  const notes = [
    [ephemeralCount, "ephemeral nodes are left out."],
    [unreadableCount, "nodes may not be read and are left out."],
    [maskedCount, "nodes are left out because their names look like secrets'."],
  ] as const;
  return {
    url: URL.createObjectURL(new Blob(parts, { type: "application/octet-stream" })),
    nodeCount: nodeCount - maskedCount,
    notes: notes.flatMap(([count, text]) => (count === 0 ? [] : [`${count} ${text}`])),
  };
}

/** Empty for a node whose data was masked: an import would make it empty. */
function lineOf({ path, data, acl, isMasked }: ExportedNodeJson): string {
  if (isMasked) return "";
  const shown = data === null ? null : data.text === undefined ? { base64: data.base64 } : { text: data.text };
  return nodeLine({ path, data: shown, acl });
}
