import { useRef } from "preact/hooks";
import type { SessionsJson } from "../../../src/api/shapes.ts";
import { api } from "../model/api.ts";
import { type ClientRate, clientRates } from "../model/client-rates.ts";
import { visible } from "../model/formats.ts";
import { nodeHash, placeHash } from "../model/place.ts";
import { Failure } from "../parts/failure.tsx";
import { usePolled } from "../parts/use-polled.ts";

const POLL_MS = 3_000;
const CLIENTS_MAX = 20;
const NUMBER = new Intl.NumberFormat(undefined, { maximumFractionDigits: 1 });

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
      {value?.notes.map((note) => (
        <p key={note} class="banner warning">
          {note}
        </p>
      ))}
      <h2>Most changed nodes</h2>
      {value === undefined || value.nodes.length === 0 ? (
        <p class="hint">No changes since the counting began.</p>
      ) : (
        <>
          <p class="hint" role="status">
            {value.events.toLocaleString()} changes in {Math.round(value.seconds)} s
          </p>
          <section class="table-scroll" tabIndex={0} aria-label="Most changed nodes">
            <table>
              <thead>
                <tr>
                  <th scope="col">Node</th>
                  <th scope="col" class="number">
                    A second
                  </th>
                  <th scope="col" class="number">
                    Data changed
                  </th>
                  <th scope="col" class="number">
                    Created
                  </th>
                  <th scope="col" class="number">
                    Deleted
                  </th>
                  <th scope="col" class="number" title="Sessions that watch its data">
                    Watchers
                  </th>
                </tr>
              </thead>
              <tbody>
                {value.nodes.map(({ path, perSecond, changed, created, deleted, watchers }) => (
                  <tr key={path}>
                    <td>
                      <a href={nodeHash(path)}>{visible(path)}</a>
                    </td>
                    <td class="number">{NUMBER.format(perSecond)}</td>
                    <td class="number">{changed.toLocaleString()}</td>
                    <td class="number">{created.toLocaleString()}</td>
                    <td class="number">{deleted.toLocaleString()}</td>
                    <td class="number">{watchers ?? "–"}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          </section>
        </>
      )}
      {value?.watched != null && value.watched.length > 0 && (
        <>
          <h2>Most watched nodes</h2>
          <section class="table-scroll" tabIndex={0} aria-label="Most watched nodes">
            <table>
              <thead>
                <tr>
                  <th scope="col">Node</th>
                  <th scope="col" class="number">
                    Sessions
                  </th>
                </tr>
              </thead>
              <tbody>
                {value.watched.map(({ path, sessions }) => (
                  <tr key={path}>
                    <td>
                      <a href={nodeHash(path)}>{visible(path)}</a>
                    </td>
                    <td class="number">{sessions.toLocaleString()}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          </section>
        </>
      )}
      <BusiestClients />
    </section>
  );
}

interface Seen {
  readonly sessions: SessionsJson["sessions"];
  readonly atMs: number;
}

function BusiestClients() {
  const { value, error } = usePolled(api.sessions, POLL_MS);
  const last = useRef<Seen | undefined>(undefined);
  const rates = useRef<readonly ClientRate[]>([]);
  if (value !== undefined && last.current?.sessions !== value.sessions) {
    const seen = { sessions: value.sessions, atMs: performance.now() };
    if (last.current !== undefined) {
      rates.current = clientRates(last.current.sessions, seen.sessions, (seen.atMs - last.current.atMs) / 1000);
    }
    last.current = seen;
  }
  return (
    <>
      <h2>Busiest clients</h2>
      <Failure text={error} />
      {rates.current.length === 0 ? (
        <p class="hint">Rates appear after a few seconds, where the members answer the four-letter word cons.</p>
      ) : (
        <section class="table-scroll" tabIndex={0} aria-label="Busiest clients">
          <table>
            <thead>
              <tr>
                <th scope="col">Session</th>
                <th scope="col">Client</th>
                <th scope="col">Member</th>
                <th scope="col" class="number">
                  Requests a second
                </th>
                <th scope="col">Last operation</th>
              </tr>
            </thead>
            <tbody>
              {rates.current.slice(0, CLIENTS_MAX).map(({ session, perSecond }) => (
                <tr key={`${session.id} ${session.member}`}>
                  <td class="code">
                    <a href={placeHash("sessions", { filter: session.id })}>{session.id}</a>
                  </td>
                  <td>{session.address}</td>
                  <td>{session.member}</td>
                  <td class="number">{NUMBER.format(perSecond)}</td>
                  <td>{session.lastOperation ?? "–"}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </section>
      )}
    </>
  );
}
