/** A node's past: its changes, and how to undo one. */
import { carryOutUndo, planUndo, type UndoPlan, type UndoStep, type Zxid } from "@zooid/client";
import { parseZxid } from "@zooid/model";
import { z } from "zod";
import { refuse } from "../http/problem.ts";
import { readHistoryPage } from "../nodes/node-history.ts";
import { historyPage, undone, undoPlan, undoRequest } from "./history-shapes.ts";
import { isRevealedTo, maskedData } from "./masking.ts";
import { wholeNumber } from "./query-shapes.ts";
import { editorRoute, type Route, viewerRoute } from "./route.ts";
import { path, yesNo, zxid } from "./shapes.ts";

const PAGE_SIZE = 200;
const PAGE_SIZE_MAX = 500;

const readHistory = viewerRoute("GET /history", {
  summary: "The changes of a node in pages, oldest first, of a server that keeps a history",
  query: z.object({
    path,
    after: zxid.optional().meta({ description: "`next` of the page before" }),
    limit: wholeNumber(1, PAGE_SIZE_MAX).default(PAGE_SIZE),
  }),
  reply: historyPage,
  async handle({ client, query, signal }) {
    const after = query.after === undefined ? (0 as Zxid) : zxidOf("query.after", query.after);
    return { body: await readHistoryPage(client, { path: query.path, after, countMax: query.limit, signal }) };
  },
});

const readUndo = viewerRoute("GET /undo", {
  summary: "A node before a transaction and now, and what would undo the change. Nothing is written",
  query: z.object({
    path,
    zxid,
    reveal: yesNo.meta({ description: "Shows data that is masked by its name; for editors" }),
  }),
  reply: undoPlan,
  async handle({ client, query, signal, role }) {
    const isRevealed = isRevealedTo(role, query.reveal);
    const plan = await planUndo(client, query.path, changeOf("query.zxid", query.zxid), { signal });
    const before = maskedData(query.path, plan.before, isRevealed);
    const now = maskedData(query.path, plan.now, isRevealed);
    return {
      body: {
        path: query.path,
        zxid: query.zxid,
        step: plan.step.kind,
        version: guardOf(plan.step),
        before: before.data,
        now: now.data,
        isMasked: before.isMasked || now.isMasked,
      },
    };
  },
});

const undo = editorRoute("POST /undo", {
  summary: "Gives a node the data that it had before a transaction, if it is still as GET /undo has shown it",
  body: undoRequest,
  reply: undone,
  async handle({ client, body, signal }) {
    const { step }: UndoPlan = await planUndo(client, body.path, changeOf("body.zxid", body.zxid), { signal });
    if (step.kind === "impossible") {
      const detail = `it was ${step.was === "ttl" ? "a TTL node" : "an ephemeral node"}`;
      throw refuse(409, "NOT_UNDONE", "The node is not made again", { detail, path: body.path });
    }
    if (step.kind !== "none" && guardOf(step) !== body.version) {
      throw refuse(412, "BAD_VERSION", "The node was changed meanwhile", { path: body.path });
    }
    await carryOutUndo(client, body.path, step, { signal });
    return { body: { path: body.path, step: step.kind } };
  },
});

/** The version that a step depends on; null where it depends on there being no node. */
function guardOf(step: UndoStep): number | null {
  return step.kind === "set" || step.kind === "delete" ? step.version : null;
}

function changeOf(name: string, text: string): Zxid {
  const found = zxidOf(name, text);
  if (found > 0) return found;
  throw refuse(400, "BAD_ARGUMENTS", "No change has the zxid 0", { detail: `${name}: expected the zxid of a change` });
}

/** @throws ProblemError for one that no server gives out */
function zxidOf(name: string, text: string): Zxid {
  try {
    return parseZxid(text);
  } catch {
    const detail = `${name}: expected a zxid such as 0x300000007, found ${text}`;
    throw refuse(400, "BAD_ARGUMENTS", "The request has no valid zxid", { detail });
  }
}

export const HISTORY_ROUTES: readonly Route[] = [readHistory, readUndo, undo];
