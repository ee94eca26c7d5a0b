import { formatZxid, type NamedState } from "@zooid/model";
import type { BuiltState } from "@zooid/txn-log/sqlite";
import { type TakenOver, TakeOverError } from "../../standby/take-over.ts";
import { digestText, type StandingMember, takeOverRequestOf } from "../../standby/take-over-request.ts";
import type { AdminView } from "../admin-view.ts";
import { audited, type CommandRequest, Failure, type Fields, leaderText, type Outcome } from "./command.ts";

/** The state of a followed Apache ensemble that this member has ready, or has taken over. */
export function standby({ driver, takeOver }: AdminView): Outcome {
  takeOver.look();
  const { replica } = driver;
  const status = takeOver.standby;
  const { taken } = takeOver;
  return {
    clients: replica.zab.members.committed?.clients ?? "open",
    standby: status?.state === undefined ? null : stateFields(status.state, status.behindMs),
    taken_over: taken === undefined ? null : namedFields(taken),
    is_leader: replica.isLeading,
    leader_id: replica.zab.leader ?? null,
    epoch: replica.zab.epoch,
    members: replica.isLeading ? takeOver.others.map(memberFields) : null,
    last_error: status?.lastError ?? null,
  };
}

function stateFields(state: BuiltState, behindMs: number | undefined): Fields {
  return {
    ...namedFields({ ...state.applied, digestHigh: state.digestHigh, digestLow: state.digestLow }),
    nodes: state.nodeCount,
    sessions: state.sessionCount,
    ensemble_id: state.ensembleId,
    behind_ms: behindMs ?? null,
  };
}

function namedFields(state: NamedState): Fields {
  return {
    zxid: formatZxid(state.zxid),
    chain: state.chain.toString(16).padStart(16, "0"),
    digest: digestText(state),
  };
}

function memberFields({ member, isSynced, standby: state }: StandingMember): Fields {
  const named = state === undefined ? { zxid: null, chain: null, digest: null } : namedFields(state);
  return {
    server_id: member.sid,
    is_observer: member.isObserver,
    is_synced: isSynced,
    ...named,
    is_taken_over: state?.isTaken ?? false,
  };
}

/**
 * The state that all members have ready becomes the initial history of a new epoch. It answers once
 * all of them have it.
 */
export async function takeOver(view: AdminView, request: CommandRequest): Promise<Outcome> {
  const { zab, isLeading } = view.driver.replica;
  if (!isLeading) {
    return new Failure(`the leader takes over, and this server does not lead${leaderText(zab.leader)}`, 409);
  }
  const asked = takeOverRequestOf(request.query);
  if (typeof asked === "string") return new Failure(asked, 400);
  const obstacle = view.workUnderWay() ?? view.takeOver.obstacle(asked);
  if (obstacle !== undefined) return new Failure(obstacle, 409);
  return await acted(view, request, "takeOver", async () => takenFields(await view.takeOver.begin(asked)));
}

/**
 * Drops the state that was taken over, so that the ensemble is empty again; or the one that this
 * member has ready, which begins again.
 */
export async function dropStandby(view: AdminView, request: CommandRequest): Promise<Outcome> {
  const { zab, isLeading } = view.driver.replica;
  const obstacle = view.workUnderWay() ?? view.takeOver.dropObstacle();
  if (obstacle !== undefined) return new Failure(obstacle, 409);
  if (view.takeOver.taken !== undefined && !isLeading) {
    return new Failure(
      `a state was taken over, which the leader drops, and this server does not lead${leaderText(zab.leader)}`,
      409,
    );
  }
  return await acted(view, request, "dropStandby", async () => {
    const dropped = await view.takeOver.drop();
    return { dropped: dropped === undefined ? "standby" : "taken-over", epoch: dropped?.epoch ?? null };
  });
}

async function acted(
  view: AdminView,
  request: CommandRequest,
  act: "takeOver" | "dropStandby",
  run: () => Promise<Fields>,
): Promise<Outcome> {
  try {
    const fields = await run();
    audited(view, request, act, true);
    return fields;
  } catch (error) {
    audited(view, request, act, undefined);
    if (!(error instanceof TakeOverError)) throw error;
    return new Failure(error.message, 409);
  }
}

function takenFields({ epoch, state, members, missing }: TakenOver): Fields {
  return {
    epoch,
    ...namedFields(state),
    members: members.map(memberFields),
    missing: missing.map(({ sid }) => sid),
    is_complete: missing.length === 0,
  };
}
