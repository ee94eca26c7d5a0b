import { sessionIdFromHalves } from "@zooid/model";
import type { Replica } from "@zooid/replica";
import { type AdminView, modeOf, shownZxid } from "../admin-view.ts";
import { type ConnectionFacts, connectionFacts, type SessionFacts } from "../connection-facts.ts";
import { type Json, JsonFields, JsonItems, JsonText } from "../java-json.ts";
import { javaDecimal } from "../java-text.ts";
import { facts, monitorValues } from "../monitor.ts";
import { digestHistory } from "../past-digests.ts";
import { expiryBuckets, owners } from "../session-dump.ts";
import type { Fields } from "./command.ts";

/** Our digest of a tree is not computed as Apache's are, whose versions are small numbers. */
const DIGEST_VERSION = 100;

export function configuration({ config, clientPort }: AdminView): Fields {
  return {
    client_port: clientPort(),
    data_dir: config.dataDir ?? "",
    data_log_dir: config.logDir ?? "",
    tick_time: config.tickMs,
    max_client_cnxns: config.connectionsPerAddressMax,
    min_session_timeout: config.sessionTimeoutMsMin,
    max_session_timeout: config.sessionTimeoutMsMax,
    server_id: config.ensemble?.sid ?? 0,
    client_port_listen_backlog: config.listenBacklog ?? -1,
  };
}

export function connections(view: AdminView, shown: (facts: ConnectionFacts) => Fields): Fields {
  const ofKind = (isSecure: boolean): JsonItems => new JsonItems(connectionsOf(view, isSecure, shown));
  return { connections: ofKind(false), secure_connections: ofKind(true) };
}

function* connectionsOf(
  view: AdminView,
  isSecure: boolean,
  shown: (facts: ConnectionFacts) => Fields,
): Generator<Json | undefined, void, undefined> {
  for (const facts of connectionFacts(view)) yield facts.isSecure === isSecure ? shown(facts) : undefined;
}

export function briefConnection({ host, interestOps, queued, received, sent }: ConnectionFacts): Fields {
  return {
    remote_socket_address: host,
    interest_ops: interestOps,
    outstanding_requests: queued,
    packets_received: received,
    packets_sent: sent,
  };
}

export function fullConnection(facts: ConnectionFacts): Fields {
  const brief = briefConnection(facts);
  return facts.session === undefined ? brief : { ...brief, ...sessionFields(facts.session, facts.establishedMs) };
}

function sessionFields(session: SessionFacts, establishedMs: number): Fields {
  return {
    session_id: session.id,
    last_operation: session.lastOperation,
    established: establishedMs,
    session_timeout: session.timeoutMs,
    last_cxid: session.lastXid,
    last_zxid: session.lastZxid,
    last_response_time: session.lastResponseMs,
    last_latency: session.lastLatencyMs,
    min_latency: session.latencyMsMin,
    avg_latency: session.latencyMsAverage,
    max_latency: session.latencyMsMax,
  };
}

export function directories(view: AdminView): Fields {
  const { dataBytes, logBytes } = view.diskUsage();
  return { datadir_size: dataBytes, logdir_size: logBytes };
}

export function dump({ driver }: AdminView): Fields {
  const { replica } = driver;
  return {
    expiry_time_to_session_ids: new JsonFields(replica.isLeading ? expiring(replica) : []),
    session_id_to_ephemeral_paths: new JsonFields(owned(replica)),
  };
}

function* expiring(replica: Replica): Generator<readonly [string, Json] | undefined, void, undefined> {
  const buckets = expiryBuckets(replica);
  let step = buckets.next();
  for (; step.done !== true; step = buckets.next()) yield undefined;
  for (const [borderMs, ids] of step.value) yield [String(borderMs), new JsonItems(ids)];
}

function* owned(replica: Replica): Generator<readonly [string, Json] | undefined, void, undefined> {
  for (const owner of owners(replica)) {
    if (owner === undefined) yield undefined;
    else {
      const { high, low } = owner;
      yield [String(sessionIdFromHalves(high, low)), new JsonItems(replica.tree.listEphemerals(high, low))];
    }
  }
}

export function hash(view: AdminView): Fields {
  return { digests: digestHistory(view).map(({ zxid, digest }) => ({ zxid, digest, digest_version: DIGEST_VERSION })) };
}

export function lastSnapshot(view: AdminView): Fields {
  const state = view.lastState();
  if (state === undefined) return { zxid: "ffffffffffffffff", timestamp: -1 };
  return { zxid: state.zxid.toString(16), timestamp: state.writtenAtSeconds };
}

export function monitor(view: AdminView): Fields {
  return Object.fromEntries<Json>([
    ...facts(view),
    ...monitorValues(view).map(([name, value]) => [name, new JsonText(value)] as const),
  ]);
}

export function serverStats(view: AdminView): Fields {
  const { driver, version } = view;
  const { replica, proposals } = driver;
  const { counters } = replica;
  const { dataBytes, logBytes } = view.diskUsage();
  const hasLatency = counters.latencyCount > 0;
  return {
    version,
    read_only: replica.isReadOnly,
    server_stats: {
      packets_sent: counters.packetsSent,
      packets_received: counters.packetsReceived,
      fsync_threshold_exceed_count: view.slowSyncCount(),
      client_response_stats: NO_SIZES,
      provider_null: false,
      server_state: modeOf(view),
      outstanding_requests: replica.outstandingCount,
      min_latency: hasLatency ? Math.floor(counters.latencyMsMin) : 0,
      avg_latency: new JsonText(javaDecimal(hasLatency ? counters.latencyMsTotal / counters.latencyCount : 0)),
      max_latency: Math.floor(counters.latencyMsMax),
      data_dir_size: dataBytes,
      log_dir_size: logBytes,
      last_processed_zxid: shownZxid(view),
      num_alive_client_connections: replica.connectionCount,
      uptime: Math.floor(performance.now() - view.startedAtMs),
      auth_failed_count: counters.authFailures,
      non_mtlsremote_conn_count: 0,
      non_mtlslocal_conn_count: 0,
    },
    client_response: NO_SIZES,
    ...(modeOf(view) === "leader" ? { proposal_stats: sizes(proposals.sizes) } : {}),
    node_count: replica.tree.nodeCount,
  };
}

function sizes({ last, min, max }: { readonly last: number; readonly min: number; readonly max: number }): Fields {
  return { last_buffer_size: last, min_buffer_size: min, max_buffer_size: max };
}

/** Sizes of single answers are not measured. */
const NO_SIZES: Fields = sizes({ last: -1, min: -1, max: -1 });
