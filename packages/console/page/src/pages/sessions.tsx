import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import type { ClientSessionJson } from "../../../src/api/shapes.ts";
import { api } from "../model/api.ts";
import { clientRates } from "../model/client-rates.ts";
import { ageText, visible } from "../model/formats.ts";
import { nodeHash } from "../model/place.ts";
import { GROUPINGS, type Grouping, grouped, ORDERS, type Order, ordered } from "../model/session-order.ts";
import { Failure } from "../parts/failure.tsx";
import { useIsOperator, useSession } from "../parts/session-context.ts";
import { usePolled } from "../parts/use-polled.ts";
import { SessionDialog } from "./session-dialog.tsx";

const POLL_MS = 3_000;
const SHOWN_MAX = 500;
const COLUMNS = 11;
const ORDER_NAMES: Readonly<Record<Order, string>> = {
  session: "session",
  connected: "time connected",
  rate: "requests a second",
  requests: "requests",
  latency: "latency",
  ephemerals: "ephemeral nodes",
  watches: "watches",
};
const GROUPING_NAMES: Readonly<Record<Grouping, string>> = {
  none: "nothing",
  address: "address",
  member: "member",
  user: "user",
  client: "client",
};

export function SessionsPage({ params }: { readonly params: Readonly<Record<string, string>> }) {
  const [order, setOrder] = useState<Order>("session");
  // Members list all watches for that: it is asked for where it is wanted.
  const isCounted = order === "watches";
  const [opened, setOpened] = useState<ClientSessionJson>();
  const isOperator = useIsOperator();
  const mayName = useSession().features.clientReports && isOperator;
  const [filter, setFilter] = useState(params["filter"] ?? "");
  const [grouping, setGrouping] = useState<Grouping>("none");
  const isNamed = grouping === "user" || grouping === "client";
  const read = useCallback(() => api.sessionsWith({ watches: isCounted, clients: isNamed }), [isCounted, isNamed]);
  const { value, error, reload } = usePolled(read, POLL_MS);
  const rates = useRates(value?.sessions);
  const matching = (value?.sessions ?? []).filter((session) => matches(session, filter));
  const shown = ordered(matching, order, rates).slice(0, SHOWN_MAX);
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
        <label class="inline">
          Order by
          <select
            value={order}
            onChange={(event) => setOrder(ORDERS.find((each) => each === event.currentTarget.value) ?? "session")}
          >
            {ORDERS.filter((each) => each !== "watches" || isOperator).map((each) => (
              <option key={each} value={each}>
                {ORDER_NAMES[each]}
              </option>
            ))}
          </select>
        </label>
        <label class="inline">
          Group by
          <select
            value={grouping}
            onChange={(event) => setGrouping(GROUPINGS.find((each) => each === event.currentTarget.value) ?? "none")}
          >
            {GROUPINGS.filter((each) => (each !== "user" && each !== "client") || mayName).map((each) => (
              <option key={each} value={each}>
                {GROUPING_NAMES[each]}
              </option>
            ))}
          </select>
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
                A second
              </th>
              <th scope="col" class="number">
                Latency
              </th>
              {isNamed && <th scope="col">User</th>}
              {isCounted && (
                <th scope="col" class="number" title="Nodes that it watches for data">
                  Watches
                </th>
              )}
              <th scope="col">Ephemeral nodes</th>
            </tr>
          </thead>
          {grouped(shown, grouping).map(({ name, sessions }) => (
            <tbody key={name}>
              {name !== "" && (
                <tr>
                  <th scope="rowgroup" colSpan={COLUMNS} class="code">
                    {visible(name)}: {sessions.length === 1 ? "1 session" : `${sessions.length} sessions`}
                  </th>
                </tr>
              )}
              {sessions.map((session) => (
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
                  <td class="number">{rates.get(session.id)?.toFixed(1) ?? "–"}</td>
                  <td class="number">{session.averageLatencyMs === null ? "–" : `${session.averageLatencyMs} ms`}</td>
                  {isNamed && <td>{session.users === null ? "unknown" : visible(session.users.join(", "))}</td>}
                  {isCounted && <td class="number">{session.watches?.toLocaleString() ?? "–"}</td>}
                  <td>
                    <Ephemerals paths={session.ephemerals} />
                  </td>
                </tr>
              ))}
            </tbody>
          ))}
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

/** Requests a second of each session, from one answer to the next. */
function useRates(sessions: readonly ClientSessionJson[] | undefined): ReadonlyMap<string, number> {
  const [rates, setRates] = useState<ReadonlyMap<string, number>>(new Map());
  const last = useRef<{ readonly sessions: readonly ClientSessionJson[]; readonly atMs: number } | undefined>(
    undefined,
  );
  useEffect(() => {
    if (sessions === undefined) return;
    const atMs = performance.now();
    const before = last.current;
    last.current = { sessions, atMs };
    if (before === undefined) return;
    const found = clientRates(before.sessions, sessions, (atMs - before.atMs) / 1000);
    setRates(new Map(found.map(({ session, perSecond }) => [session.id, perSecond])));
  }, [sessions]);
  return rates;
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

function matches({ id, address, member, ephemerals, users }: ClientSessionJson, filter: string): boolean {
  const wanted = filter.toLowerCase();
  return [id, address, member, ...(ephemerals ?? []), ...(users ?? [])].some((text) =>
    text.toLowerCase().includes(wanted),
  );
}
