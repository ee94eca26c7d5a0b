/**
 * Breaks a server as POWER_CUT_BREAK says, by changing its code as it is loaded: for
 * `NODE_OPTIONS=--import=…/break-server.ts`. Nothing that is published can be broken so.
 */
import { registerHooks } from "node:module";
import { BREAK_VARIABLE, BREAKS, broken, isBreakKind } from "./break-kinds.ts";

const kind = process.env[BREAK_VARIABLE] ?? "";
if (!isBreakKind(kind)) {
  throw new Error(`${BREAK_VARIABLE} is one of ${Object.keys(BREAKS).join(", ")}, found "${kind}"`);
}
const target = new RegExp(`/packages/txn-log/(?:src|dist)/${BREAKS[kind].module}\\.[jt]s$`);

registerHooks({
  load(url, context, nextLoad) {
    const loaded = nextLoad(url, context);
    if (!target.test(url) || loaded.source === undefined || loaded.source === null) return loaded;
    const { source } = loaded;
    const code = typeof source === "string" ? source : Buffer.from(source as Uint8Array).toString();
    return { ...loaded, source: broken(kind, code) };
  },
});
