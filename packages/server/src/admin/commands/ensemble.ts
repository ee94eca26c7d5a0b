import { counterOf, epochOf, formatZxid, hostPort } from "@zooid/model";
import type { LearnerStatus } from "@zooid/zab";
import { type AdminView, modeOf } from "../admin-view.ts";
import type { Json } from "../java-json.ts";
import { type CommandRequest, Failure, type Fields, leaderText, notYet, type Outcome } from "./command.ts";

export function leader({ driver, config }: AdminView): Fields | Failure {
  const sid = driver.replica.zab.leader;
  const server = config.ensemble?.servers.find((one) => one.sid === sid);
  if (server === undefined) return new Failure("server is not initialized");
  return { is_leader: driver.replica.isLeading, leader_id: server.sid, leader_ip: server.host };
}

export function observers(view: AdminView): Fields {
  if (modeOf(view) === "follower") {
    const passedOn = view.relayedObservers();
    return { synced_observers: passedOn.length, observers: passedOn.map((sid) => ({ sid })) };
  }
  const learners = modeOf(view) === "leader" ? view.driver.replica.zab.learners() : [];
  const watching = learners.filter(({ isObserver }) => isObserver);
  return {
    synced_observers: watching.filter(({ phase }) => phase === "synced").length,
    observers: watching.map(({ sid, applied }) => ({ sid, last_zxid: applied })),
  };
}

/** Maximum time until the successor has every entry; writes wait meanwhile. */
const TRANSFER_MS = 2000;

/**
 * Transfers leadership to the server that is named, or to the one that suits best; `dryRun` only
 * checks.
 */
export async function transferLeadership(view: AdminView, { query }: CommandRequest): Promise<Outcome> {
  const { driver, config } = view;
  const { zab, isLeading } = driver.replica;
  if (config.ensemble === undefined) return new Failure("this server is no member of an ensemble", 409);
  if (!isLeading) return new Failure(`this server does not lead${leaderText(zab.leader)}`, 409);
  const to = query.get("to");
  const learners = zab.learners();
  const successor = to === null ? undefined : learners.find(({ sid }) => String(sid) === to);
  if (to !== null && successor?.mayLead !== true) return whyNoSuccessor(view, to, successor);
  if (!learners.some(({ mayLead }) => mayLead)) {
    return notYet("no other server can lead now: none is a synchronized voter with room on its disk");
  }
  if (query.get("dryRun") === "true") return { is_dry_run: true, successor_id: successor?.sid ?? null };
  const leader = await driver.transferLeadership({ withinMs: TRANSFER_MS, to: successor?.sid, keepServing: true });
  if (leader !== undefined) return { leader_id: leader };
  return notYet(`no server had all transactions within ${TRANSFER_MS} ms, and this one leads on`);
}

function whyNoSuccessor({ config }: AdminView, to: string, learner: LearnerStatus | undefined): Failure {
  const server = config.ensemble?.servers.find(({ sid }) => String(sid) === to);
  if (server === undefined) return new Failure(`to is the number of a server of the ensemble, not ${to}`, 409);
  if (server.sid === config.ensemble?.sid) return new Failure(`server ${to} is this server, which leads`, 409);
  if (server.isObserver) return new Failure(`server ${to} is an observer and cannot lead`, 409);
  if (learner === undefined) return notYet(`server ${to} does not follow now`);
  if (learner.phase !== "synced") return notYet(`server ${to} is not synchronized yet (${learner.phase})`);
  return notYet(
    `server ${to} cannot lead now: it has no weight, no room on its disk, or has lost data and is not counted`,
  );
}

export function votingView(view: AdminView): Fields {
  const voters = view.config.ensemble?.servers.filter(({ isObserver }) => !isObserver) ?? [];
  return {
    current_config: new Map<string, Json>(
      voters.map(({ sid, host, quorumPort, electionPort }) => [
        String(sid),
        {
          server_addresses: [hostPort(host, quorumPort)],
          election_addresses: [hostPort(host, electionPort)],
          client_address: clientAddress(view, sid),
          learner_type: "participant",
        },
      ]),
    ),
  };
}

function clientAddress({ config, clientPort }: AdminView, sid: number): string {
  if (sid === config.ensemble?.sid) return hostPort(config.address === "*" ? "0.0.0.0" : config.address, clientPort());
  const address = config.ensemble?.servers.find((server) => server.sid === sid)?.clientAddress;
  return address === undefined ? "" : hostPort(address.host ?? "0.0.0.0", address.port);
}

export function zabState(view: AdminView): Fields {
  const { ensemble } = view.config;
  const own = ensemble?.servers.find(({ sid }) => sid === ensemble.sid);
  if (own === undefined) return { voting: false, zabstate: "" };
  const { zab, visibleZxid, isLeading } = view.driver.replica;
  return {
    myid: own.sid,
    is_leader: isLeading,
    quorum_address: addresses(own.host, own.quorumPort),
    election_address: addresses(own.host, own.electionPort),
    client_address: clientAddress(view, own.sid),
    voting: !own.isObserver,
    last_zxid: formatZxid(visibleZxid),
    zab_epoch: epochOf(visibleZxid),
    zab_counter: counterOf(visibleZxid),
    zabstate: zab.phase,
  };
}

/** A server has one address for each purpose; Apache's servers may have several. */
function addresses(host: string, port: number): Fields {
  const only = hostPort(host, port);
  return {
    empty: false,
    all_addresses: [only],
    wildcard_addresses: [hostPort("0.0.0.0", port)],
    all_ports: [port],
    all_host_strings: [host],
    reachable_address: only,
    all_reachable_addresses: [only],
    all_reachable_addresses_or_all: [only],
    reachable_or_one: only,
    one: only,
  };
}
