import { useCallback, useState } from "preact/hooks";
import type { ClientSessionJson } from "../../../src/api/shapes.ts";
import { api } from "../model/api.ts";
import { ageText, visible } from "../model/formats.ts";
import { GROUPINGS, type Grouping, grouped, ORDERS, type Order, ordered } from "../model/session-order.ts";
import { Button } from "../parts/button.tsx";
import { Failure } from "../parts/failure.tsx";
import { SearchField, SelectField } from "../parts/fields.tsx";
import { NodeLink } from "../parts/links.tsx";
import { Notes } from "../parts/notes.tsx";
import { useIsOperator, useSession } from "../parts/session-context.ts";
import { type Column, Rows, TableFrame } from "../parts/table.tsx";
import { useClientRates } from "../parts/use-client-rates.ts";
import { usePolled } from "../parts/use-polled.ts";
import { SessionDialog } from "./session-dialog.tsx";

const POLL_MS = 3_000;
const SHOWN_MAX = 500;
const COLUMNS: readonly Column<ClientSessionJson>[] = [
  { head: "Client", kind: "code", cell: ({ address }) => address },
  { head: "Member", kind: "code", cell: ({ member }) => member },
  { head: "Connected", cell: ({ establishedMs: since }) => (since === null ? "–" : ageText(since, Date.now())) },
  { head: "Timeout", cell: ({ timeoutMs }) => (timeoutMs === null ? "–" : `${timeoutMs / 1000} s`) },
  { head: "Requests", kind: "number", cell: ({ received }) => received },
];
const LATENCY: Column<ClientSessionJson> = {
  head: "Latency",
  kind: "number",
  cell: ({ averageLatencyMs: latencyMs }) => (latencyMs === null ? "–" : `${latencyMs} ms`),
};
const USER: Column<ClientSessionJson> = {
  head: "User",
  cell: ({ users }) => (users === null ? "unknown" : visible(users.join(", "))),
};
const WATCHES: Column<ClientSessionJson> = {
  head: "Watches",
  kind: "number",
  title: "Nodes that it watches for data",
  cell: ({ watches }) => watches?.toLocaleString() ?? "–",
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
  const rates = new Map(useClientRates(value?.sessions).map(({ session, perSecond }) => [session.id, perSecond]));
  const matching = (value?.sessions ?? []).filter((session) => matches(session, filter));
  const shown = ordered(matching, order, rates).slice(0, SHOWN_MAX);
  const columns: readonly Column<ClientSessionJson>[] = [
    {
      head: "Session",
      kind: "code",
      isRowHead: true,
      cell: (session) =>
        isOperator ? <Button text={session.id} class="link" onClick={() => setOpened(session)} /> : session.id,
    },
    ...COLUMNS,
    { head: "A second", kind: "number", cell: ({ id }) => rates.get(id)?.toFixed(1) ?? "–" },
    LATENCY,
    ...(isNamed ? [USER] : []),
    ...(isCounted ? [WATCHES] : []),
    { head: "Ephemeral nodes", cell: ({ ephemerals }) => <Ephemerals paths={ephemerals} /> },
  ];
  return (
    <section class="page">
      <h1>Sessions</h1>
      <div class="toolbar">
        <SearchField label="Filter" placeholder="id, address, path" value={filter} onText={setFilter} />
        <SelectField
          label="Order by"
          isInline
          value={order}
          options={ORDERS.filter(({ id }) => id !== "watches" || isOperator)}
          onChange={setOrder}
        />
        <SelectField
          label="Group by"
          isInline
          value={grouping}
          options={GROUPINGS.filter(({ id }) => (id !== "user" && id !== "client") || mayName)}
          onChange={setGrouping}
        />
        <span class="hint" role="status">
          {value === undefined ? "Asking the members…" : `${matching.length} of ${value.total} sessions`}
        </span>
      </div>
      <Failure text={error} />
      <Notes notes={value?.notes} class="banner warning" />
      <TableFrame label="Sessions" columns={columns}>
        {grouped(shown, grouping).map(({ name, sessions }) => (
          <tbody key={name}>
            {name !== "" && (
              <tr>
                <th scope="rowgroup" colSpan={columns.length} class="code">
                  {visible(name)}: {sessions.length === 1 ? "1 session" : `${sessions.length} sessions`}
                </th>
              </tr>
            )}
            <Rows columns={columns} rows={sessions} keyOf={({ id }) => id} />
          </tbody>
        ))}
      </TableFrame>
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
          <NodeLink path={path} />
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
