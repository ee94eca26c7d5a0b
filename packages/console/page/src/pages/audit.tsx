import { useEffect, useState } from "preact/hooks";
import type { AuditEntryJson } from "../../../src/api/shapes.ts";
import { api, textOf } from "../model/api.ts";
import { visible } from "../model/formats.ts";
import { nodeHash, placeHash } from "../model/place.ts";
import { Failure } from "../parts/failure.tsx";

const POLL_MS = 1_000;
const KEPT_MAX = 2_000;
const SHOWN_MAX = 500;
const TIME = new Intl.DateTimeFormat(undefined, { timeStyle: "medium" });

/** The newest writes and their requesters, the newest first, while this page is open. */
export function AuditPage() {
  const [entries, setEntries] = useState<readonly AuditEntryJson[]>([]);
  const [droppedCount, setDroppedCount] = useState(0);
  const [isPaused, setPaused] = useState(false);
  const [filter, setFilter] = useState("");
  const [error, setError] = useState<string>();
  useEffect(() => {
    if (isPaused) return;
    let isOver = false;
    let timer: ReturnType<typeof setTimeout> | undefined;
    let after = entries[0]?.number ?? 0;
    const poll = async (): Promise<void> => {
      try {
        const page = await api.audit(after);
        if (isOver) return;
        after = page.entries.at(-1)?.number ?? after;
        setEntries((all) => [...page.entries.toReversed(), ...all].slice(0, KEPT_MAX));
        setDroppedCount((count) => count + page.droppedCount);
        setError(undefined);
      } catch (reason) {
        if (!isOver) setError(textOf(reason));
      }
      if (!isOver) timer = setTimeout(() => void poll(), POLL_MS);
    };
    void poll();
    return () => {
      isOver = true;
      clearTimeout(timer);
    };
  }, [isPaused]);
  const shown = entries.filter((entry) => matches(entry, filter)).slice(0, SHOWN_MAX);
  return (
    <section class="page">
      <h1>Audit</h1>
      <p class="hint">
        Writes of this server's own clients since this page was first opened. The audit log file has all of them.
      </p>
      <div class="toolbar">
        <label class="inline">
          Filter
          <input
            type="search"
            placeholder="path, user, session, operation"
            value={filter}
            onInput={(event) => setFilter(event.currentTarget.value)}
          />
        </label>
        <button type="button" aria-pressed={isPaused} onClick={() => setPaused(!isPaused)}>
          {isPaused ? "Go on" : "Pause"}
        </button>
        <span class="hint" role="status">
          {shown.length} shown{droppedCount > 0 && `, ${droppedCount} came too fast and are left out`}
        </span>
      </div>
      <Failure text={error} />
      <section class="table-scroll" tabIndex={0} aria-label="Writes">
        <table>
          <thead>
            <tr>
              <th scope="col">Time</th>
              <th scope="col">Operation</th>
              <th scope="col">Node</th>
              <th scope="col">User</th>
              <th scope="col">Address</th>
              <th scope="col">Session</th>
              <th scope="col">Result</th>
            </tr>
          </thead>
          <tbody>
            {shown.map(({ number, time, operation, path, user, address, session, result }) => (
              <tr key={number}>
                <td>{TIME.format(Number(time))}</td>
                <td>{operation}</td>
                <td class="code">{path === null ? "–" : <a href={nodeHash(path)}>{visible(path)}</a>}</td>
                <td>{user === null ? "the server" : visible(user)}</td>
                <td class="code">{address ?? "–"}</td>
                <td class="code">
                  <a href={placeHash("sessions", { filter: session })}>{session}</a>
                </td>
                <td class={result === "failure" ? "failure-text" : ""}>{result}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </section>
    </section>
  );
}

function matches({ path, user, session, operation, address }: AuditEntryJson, filter: string): boolean {
  const wanted = filter.toLowerCase();
  return [path, user, session, operation, address].some((text) => text?.toLowerCase().includes(wanted) === true);
}
