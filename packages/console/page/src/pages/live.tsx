import { useEffect, useRef, useState } from "preact/hooks";
import { visible } from "../model/formats.ts";
import { type Change, live } from "../model/live.ts";
import { nodeHash } from "../model/place.ts";

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
        <label class="inline">
          Below
          <input
            type="search"
            placeholder="/path"
            spellcheck={false}
            value={filter}
            onInput={(event) => setFilter(event.currentTarget.value)}
          />
        </label>
        <button type="button" aria-pressed={isPaused} onClick={() => setPaused(!isPaused)}>
          {isPaused ? "Continue" : "Pause"}
        </button>
        <button
          type="button"
          onClick={() => {
            setEntries([]);
            setMissedCount(0);
          }}
        >
          Clear
        </button>
        <span class="hint">
          {shown.length} shown{missedCount > 0 && `, ${missedCount} or more not shown`}
        </span>
      </div>
      {shown.length === 0 ? (
        <p class="hint">Changes appear here as they happen.</p>
      ) : (
        <section class="table-scroll" tabIndex={0} aria-label="Changes">
          <table>
            <thead>
              <tr>
                <th scope="col">Time</th>
                <th scope="col">Change</th>
                <th scope="col">Node</th>
                <th scope="col">Zxid</th>
              </tr>
            </thead>
            <tbody>
              {shown.map(({ id, atMs, type, path, zxid }) => (
                <tr key={id}>
                  <td>{new Date(atMs).toLocaleTimeString()}</td>
                  <td>
                    <span class={`change change-${type}`}>{NAMES[type]}</span>
                  </td>
                  <td>
                    <a href={nodeHash(path)}>{visible(path)}</a>
                  </td>
                  <td class="code">{zxid ?? "–"}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </section>
      )}
    </section>
  );
}
