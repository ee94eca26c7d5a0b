import { setTimeout as delay } from "node:timers/promises";
import { assertNever } from "@zooid/model";
import type { AdminView } from "../admin-view.ts";
import { requesterIdentities } from "../authorise.ts";
import { type CommandRequest, Failure, leaderText, notYet, type Outcome } from "./command.ts";

/** Time in which a change of the configuration commits. */
const COMMIT_MS = 5000;
const POLL_MS = 5;

/**
 * Opens the ensemble to clients. It answers once that is committed; each member opens its ports as
 * it hears of it.
 */
export async function openClients(view: AdminView, request: CommandRequest): Promise<Outcome> {
  const { driver, takeOver } = view;
  const { members } = driver.replica.zab;
  const isEmpty = driver.replica.isLeading && takeOver.standby !== undefined && takeOver.taken === undefined;
  const isFounded = members.areClientsClosed && !members.areClientsClosedAgain;
  if (isEmpty && isFounded && request.query.get("empty") !== "true")
    return new Failure(
      "nothing was taken over, and clients would find an empty tree: take_over comes first, and ?empty=true opens it as it is",
      409,
    );
  const answer = view.openClients({ identities: requesterIdentities(view, request), address: request.address });
  switch (answer) {
    case "open":
      return { clients: "open", clients_before: "open" };
    case "proposed":
      break;
    case "busy":
      return notYet("the configuration of the ensemble, or its feature level, is being changed");
    case "not-leading":
      return new Failure(
        `the leader opens the ensemble to clients, and this server does not lead${leaderText(driver.replica.zab.leader)}`,
        409,
      );
    default:
      return assertNever(answer);
  }
  const endMs = performance.now() + COMMIT_MS;
  while (driver.replica.zab.members.areClientsClosed) {
    if (performance.now() >= endMs || driver.isHalted)
      return notYet("the opening is proposed and not known to be committed yet: ask again");
    await delay(POLL_MS, undefined, { ref: false });
  }
  return { clients: "open", clients_before: isFounded ? "closed" : "closed-again" };
}
