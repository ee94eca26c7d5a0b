import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import type { ChangeJson, HistoryItemJson } from "../../../src/api/history-shapes.ts";
import { ApiError, api, textOf } from "../model/api.ts";
import { sizeText, timeText, visible } from "../model/formats.ts";
import { Button } from "../parts/button.tsx";
import { Failure } from "../parts/failure.tsx";
import { useMayEdit } from "../parts/session-context.ts";
import { type Column, Table } from "../parts/table.tsx";
import { UndoDialog } from "./undo-dialog.tsx";

const PAGE_SIZE = 500;
/** Pages that are read at once: the newest changes are in the last one. */
const PAGES_MAX = 10;
const WORDS: Readonly<Record<string, string>> = {
  SET_DATA: "data written",
  SET_ACL: "access list set",
  DELETE: "deleted",
  DELETE_CONTAINER: "deleted as an empty container",
};

interface HistoryTabProps {
  readonly path: string;
  readonly isForbidden: boolean;
  /** Changes with each change of the node. */
  readonly version: string;
  readonly onUndone: () => void;
}

interface Loaded {
  readonly items: readonly HistoryItemJson[];
  /** Where later changes follow; null: these are all. */
  readonly next: string | null;
}

/** The changes of a node that the server's history keeps, newest first. */
export function HistoryTab({ path, isForbidden, version, onUndone }: HistoryTabProps) {
  const [loaded, setLoaded] = useState<Loaded>();
  const [error, setError] = useState<unknown>();
  const [undone, setUndone] = useState<ChangeJson>();
  const mayEdit = useMayEdit() && !isForbidden;
  const reading = useRef(0);
  const read = useCallback(
    (before?: Loaded) => {
      const number = ++reading.current;
      pagesOf(path, before).then(
        (found) => {
          if (number !== reading.current) return;
          setLoaded(found);
          setError(undefined);
        },
        (reason: unknown) => number === reading.current && setError(reason),
      );
    },
    [path],
  );
  useEffect(() => read(), [read, version]);
  if (error instanceof ApiError && error.code === "UNIMPLEMENTED") {
    return <p class="hint">This server keeps no history: zooid.history.retainMs is 0, or it is another server.</p>;
  }
  const columns: readonly Column<HistoryItemJson>[] = [
    { head: "Time", isRowHead: true, cell: (item) => (item.kind === "gap" ? "–" : timeText(item.time)) },
    { head: "Change", cell: wordsOf },
    { head: "Version", kind: "number", cell: (item) => (item.kind === "gap" ? "" : item.version) },
    { head: "Size", kind: "number", cell: sizeOf },
    { head: "By", title: "Shown to those who may set the access list", cell: authorOf },
    { head: "Transaction", kind: "code", cell: (item) => (item.kind === "gap" ? item.end : item.zxid) },
    ...(mayEdit ? [{ head: "Undo", cell: (item: HistoryItemJson) => undoOf(item, setUndone) }] : []),
  ];
  return (
    <section class="history" aria-label="Changes">
      <div class="toolbar">
        <span class="hint">A change is in the history some seconds after it was made.</span>
        <Button text="Look again" onClick={() => read()} />
      </div>
      <Failure text={error === undefined ? undefined : textOf(error)} />
      {loaded?.items.length === 0 && <p class="hint">The history has no change of this node.</p>}
      {loaded !== undefined && loaded.items.length > 0 && (
        <Table label="Changes, newest first" columns={columns} rows={loaded.items.toReversed()} keyOf={keyOf} />
      )}
      {loaded !== undefined && loaded.next !== null && (
        <Button text={`Read the changes after ${loaded.next}`} onClick={() => read(loaded)} />
      )}
      {undone !== undefined && (
        <UndoDialog
          change={undone}
          onClose={() => setUndone(undefined)}
          onDone={() => {
            setUndone(undefined);
            onUndone();
          }}
        />
      )}
    </section>
  );
}

async function pagesOf(path: string, before: Loaded = { items: [], next: "0x0" }): Promise<Loaded> {
  const items = [...before.items];
  let next = before.next;
  for (let count = 0; count < PAGES_MAX && next !== null; count++) {
    const page = await api.history(path, next, PAGE_SIZE);
    items.push(...page.items);
    next = page.next;
  }
  return { items, next };
}

function wordsOf(item: HistoryItemJson): string {
  if (item.kind === "gap") return `no transactions after ${item.after} and up to ${item.end} are kept`;
  return item.op.startsWith("CREATE") ? "created" : (WORDS[item.op] ?? item.op);
}

function sizeOf(item: HistoryItemJson): string {
  if (item.kind === "gap" || !writesData(item)) return "";
  if (!item.isReadable) return "not readable then";
  return item.dataLength === null ? "null" : sizeText(item.dataLength);
}

function authorOf(item: HistoryItemJson): string {
  if (item.kind === "gap" || item.who === null) return "–";
  return visible([...item.who.identities, item.who.address].join(" at "));
}

function writesData({ op }: ChangeJson): boolean {
  return op === "SET_DATA" || op.startsWith("CREATE");
}

function undoOf(item: HistoryItemJson, open: (change: ChangeJson) => void) {
  if (item.kind === "gap" || !(writesData(item) || item.op.startsWith("DELETE"))) return null;
  return <Button text="Undo…" aria-label={`Undo the change of ${timeText(item.time)}`} onClick={() => open(item)} />;
}

/** A transaction may have several changes of a node. */
function keyOf(item: HistoryItemJson): string {
  return item.kind === "gap" ? `gap ${item.end}` : `${item.zxid} ${item.op} ${item.version}`;
}
