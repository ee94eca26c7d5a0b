import { useEffect, useRef, useState } from "preact/hooks";
import { type Change, live } from "../model/live.ts";
import { Button } from "../parts/button.tsx";
import { SearchField } from "../parts/fields.tsx";
import { NodeLink } from "../parts/links.tsx";
import { type Column, Table } from "../parts/table.tsx";

const KEPT_MAX = 500;
const NAMES: Readonly<Record<Change["type"], string>> = {
  created: "created",
  deleted: "deleted",
  "data-changed": "data changed",
  "children-changed": "children changed",
};

interface Entry extends Change {
  readonly id: number;
}

/** The changes of the tree as they happen; a pause keeps the view, and counts. */
const COLUMNS: readonly Column<Entry>[] = [
  { head: "Time", cell: ({ atMs }) => new Date(atMs).toLocaleTimeString() },
  { head: "Change", cell: ({ type }) => <span class={`change change-${type}`}>{NAMES[type]}</span> },
  { head: "Node", cell: ({ path }) => <NodeLink path={path} /> },
  { head: "Zxid", kind: "code", cell: ({ zxid }) => zxid ?? "–" },
];

export function LivePage({ params }: { readonly params: Readonly<Record<string, string>> }) {
  const [entries, setEntries] = useState<readonly Entry[]>([]);
  const [isPaused, setPaused] = useState(false);
  const [missedCount, setMissedCount] = useState(0);
  const [filter, setFilter] = useState(params["path"] ?? "");
  const paused = useRef(isPaused);
  const lastId = useRef(0);
  paused.current = isPaused;
  useEffect(
    () =>
      live.listen({
        changes: (changes, droppedCount) => {
          if (paused.current) return setMissedCount((count) => count + changes.length + droppedCount);
          const added = changes.map((change) => ({ ...change, id: ++lastId.current }));
          setEntries((all) => [...added.reverse(), ...all].slice(0, KEPT_MAX));
          if (droppedCount > 0) setMissedCount((count) => count + droppedCount);
        },
      }),
    [],
  );
  const shown = entries.filter(({ path }) => path.startsWith(filter));
  return (
    <section class="page">
      <h1>Changes</h1>
      <div class="toolbar">
        <SearchField label="Below" placeholder="/path" value={filter} onText={setFilter} />
        <Button text={isPaused ? "Continue" : "Pause"} aria-pressed={isPaused} onClick={() => setPaused(!isPaused)} />
        <Button
          text="Clear"
          onClick={() => {
            setEntries([]);
            setMissedCount(0);
          }}
        />
        <span class="hint">
          {shown.length} shown{missedCount > 0 && `, ${missedCount} or more not shown`}
        </span>
      </div>
      {shown.length === 0 ? (
        <p class="hint">Changes appear here as they happen.</p>
      ) : (
        <Table label="Changes" columns={COLUMNS} rows={shown} keyOf={({ id }) => id} />
      )}
    </section>
  );
}
