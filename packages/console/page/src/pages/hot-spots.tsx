import type { HotSpotsJson } from "../../../src/api/hot-spot-routes.ts";
import { api } from "../model/api.ts";
import type { ClientRate } from "../model/client-rates.ts";
import { Failure } from "../parts/failure.tsx";
import { NodeLink, SessionLink } from "../parts/links.tsx";
import { Notes } from "../parts/notes.tsx";
import { type Column, Table } from "../parts/table.tsx";
import { useClientRates } from "../parts/use-client-rates.ts";
import { usePolled } from "../parts/use-polled.ts";

const POLL_MS = 3_000;
const CLIENTS_MAX = 20;
const NUMBER = new Intl.NumberFormat(undefined, { maximumFractionDigits: 1 });
const CHANGED: readonly Column<HotSpotsJson["nodes"][number]>[] = [
  { head: "Node", cell: ({ path }) => <NodeLink path={path} /> },
  { head: "A second", kind: "number", cell: ({ perSecond }) => NUMBER.format(perSecond) },
  { head: "Data changed", kind: "number", cell: ({ changed }) => changed.toLocaleString() },
  { head: "Created", kind: "number", cell: ({ created }) => created.toLocaleString() },
  { head: "Deleted", kind: "number", cell: ({ deleted }) => deleted.toLocaleString() },
  {
    head: "Watchers",
    kind: "number",
    title: "Sessions that watch its data",
    cell: ({ watchers }) => watchers ?? "–",
  },
];
const WATCHED: readonly Column<NonNullable<HotSpotsJson["watched"]>[number]>[] = [
  { head: "Node", cell: ({ path }) => <NodeLink path={path} /> },
  { head: "Sessions", kind: "number", cell: ({ sessions }) => sessions.toLocaleString() },
];
const CLIENTS: readonly Column<ClientRate>[] = [
  { head: "Session", kind: "code", cell: ({ session }) => <SessionLink id={session.id} /> },
  { head: "Client", cell: ({ session }) => session.address },
  { head: "Member", cell: ({ session }) => session.member },
  { head: "Requests a second", kind: "number", cell: ({ perSecond }) => NUMBER.format(perSecond) },
  { head: "Last operation", cell: ({ session }) => session.lastOperation ?? "–" },
];

/**
 * Nodes that change most, nodes that most sessions watch, and the clients with the most requests.
 */
export function HotSpotsPage() {
  const { value, error } = usePolled(api.hotSpots, POLL_MS);
  return (
    <section class="page">
      <h1>Hot spots</h1>
      <p class="hint">
        Changes are counted while this page is open, for two minutes at most, as far as you may read the nodes. Reads
        leave no trace by node: the clients below have the most requests of both kinds.
      </p>
      <Failure text={error} />
      <Notes notes={value?.notes} class="banner warning" />
      <h2>Most changed nodes</h2>
      {value === undefined || value.nodes.length === 0 ? (
        <p class="hint">No changes since the counting began.</p>
      ) : (
        <>
          <p class="hint" role="status">
            {value.events.toLocaleString()} changes in {Math.round(value.seconds)} s
          </p>
          <Table label="Most changed nodes" columns={CHANGED} rows={value.nodes} keyOf={({ path }) => path} />
        </>
      )}
      {value?.watched != null && value.watched.length > 0 && (
        <>
          <h2>Most watched nodes</h2>
          <Table label="Most watched nodes" columns={WATCHED} rows={value.watched} keyOf={({ path }) => path} />
        </>
      )}
      <BusiestClients />
    </section>
  );
}

function BusiestClients() {
  const { value, error } = usePolled(api.sessions, POLL_MS);
  const rates = useClientRates(value?.sessions);
  return (
    <>
      <h2>Busiest clients</h2>
      <Failure text={error} />
      {rates.length === 0 ? (
        <p class="hint">Rates appear after a few seconds, where the members answer the four-letter word cons.</p>
      ) : (
        <Table
          label="Busiest clients"
          columns={CLIENTS}
          rows={rates.slice(0, CLIENTS_MAX)}
          keyOf={({ session }) => `${session.id} ${session.member}`}
        />
      )}
    </>
  );
}
