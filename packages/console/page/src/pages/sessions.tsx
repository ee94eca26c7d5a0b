import { useState } from "preact/hooks";
import type { ClientSessionJson } from "../../../src/api/shapes.ts";
import { api } from "../model/api.ts";
import { ageText, visible } from "../model/formats.ts";
import { nodeHash } from "../model/place.ts";
import { Failure } from "../parts/failure.tsx";
import { useIsOperator } from "../parts/session-context.ts";
import { usePolled } from "../parts/use-polled.ts";
import { SessionDialog } from "./session-dialog.tsx";

const POLL_MS = 3_000;
const SHOWN_MAX = 500;

export function SessionsPage({ params }: { readonly params: Readonly<Record<string, string>> }) {
  const { value, error, reload } = usePolled(api.sessions, POLL_MS);
  const [opened, setOpened] = useState<ClientSessionJson>();
  const isOperator = useIsOperator();
  const [filter, setFilter] = useState(params["filter"] ?? "");
  const matching = (value?.sessions ?? []).filter((session) => matches(session, filter));
  return (
    <section class="page">
      <h1>Sessions</h1>
      <div class="toolbar">
        <label class="inline">
          Filter
          <input
            type="search"
            placeholder="id, address, path"
            value={filter}
            onInput={(event) => setFilter(event.currentTarget.value)}
          />
        </label>
        <span class="hint" role="status">
          {value === undefined ? "Asking the members…" : `${matching.length} of ${value.total} sessions`}
        </span>
      </div>
      <Failure text={error} />
      {value?.notes.map((note) => (
        <p key={note} class="banner warning">
          {note}
        </p>
      ))}
      <section class="table-scroll" tabIndex={0} aria-label="Sessions">
        <table>
          <thead>
            <tr>
              <th scope="col">Session</th>
              <th scope="col">Client</th>
              <th scope="col">Member</th>
              <th scope="col">Connected</th>
              <th scope="col">Timeout</th>
              <th scope="col" class="number">
                Requests
              </th>
              <th scope="col" class="number">
                Latency
              </th>
              <th scope="col">Ephemeral nodes</th>
            </tr>
          </thead>
          <tbody>
            {matching.slice(0, SHOWN_MAX).map((session) => (
              <tr key={session.id}>
                <th scope="row" class="code">
                  {isOperator ? (
                    <button type="button" class="link" onClick={() => setOpened(session)}>
                      {session.id}
                    </button>
                  ) : (
                    session.id
                  )}
                </th>
                <td class="code">{session.address}</td>
                <td class="code">{session.member}</td>
                <td>{session.establishedMs === null ? "–" : ageText(session.establishedMs, Date.now())}</td>
                <td>{session.timeoutMs === null ? "–" : `${session.timeoutMs / 1000} s`}</td>
                <td class="number">{session.received}</td>
                <td class="number">{session.averageLatencyMs === null ? "–" : `${session.averageLatencyMs} ms`}</td>
                <td>
                  <Ephemerals paths={session.ephemerals} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </section>
      {matching.length > SHOWN_MAX && <p class="hint">The first {SHOWN_MAX} are shown; filter for the others.</p>}
      {opened !== undefined && (
        <SessionDialog
          session={opened}
          onClose={() => setOpened(undefined)}
          onEnded={() => {
            setOpened(undefined);
            reload();
          }}
        />
      )}
    </section>
  );
}

const PATHS_MAX = 5;

function Ephemerals({ paths }: { readonly paths: readonly string[] | null }) {
  if (paths === null) return <span class="hint">unknown</span>;
  if (paths.length === 0) return <span class="hint">none</span>;
  return (
    <ul class="plain">
      {paths.slice(0, PATHS_MAX).map((path) => (
        <li key={path}>
          <a href={nodeHash(path)}>{visible(path)}</a>
        </li>
      ))}
      {paths.length > PATHS_MAX && <li class="hint">and {paths.length - PATHS_MAX} more</li>}
    </ul>
  );
}

function matches({ id, address, member, ephemerals }: ClientSessionJson, filter: string): boolean {
  const wanted = filter.toLowerCase();
  return [id, address, member, ...(ephemerals ?? [])].some((text) => text.toLowerCase().includes(wanted));
}
