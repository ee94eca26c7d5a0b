import { ArgumentError, ErrorCode, errorName, misfit, OpCode, rules, type Stat } from "@zooid/model";
import { type PartResult, writeCreate, writePathAndInt, writeSetData } from "@zooid/wire";
import { type AclInput, checkedAcl } from "../auth/acl-checks.ts";
import type { CallOptions } from "../calls/call.ts";
import { type Created, MULTI, type TransactionPart } from "../calls/operation.ts";
import { TransactionError, unreadableError, zkError } from "../errors.ts";
import { type CreateMode, createBody, isSequential, type Payload, payloadBytes } from "./create-mode.ts";
import { CALL, CREATE_STEP, checkOptions, VERSION_STEP } from "./option-shapes.ts";
import { checkedPath, checkedSequentialPath, underRoot, withoutRoot } from "./paths.ts";
import type { ViewPlace } from "./view-place.ts";

/**
 * Several writes that are applied atomically, built step by step; each step sees the effects of
 * those before it. The type parameter grows with each step, so `commit` gives each step's result
 * its own type.
 */
export class Transaction<R extends readonly unknown[] = []> {
  readonly #place: ViewPlace;
  readonly #parts: TransactionPart[] = [];

  /** @internal `client.transaction()` makes one */
  constructor(place: ViewPlace) {
    this.#place = place;
  }

  /** The node must have this data version; -1 requires only that it exists. */
  check(path: string, version: number): Transaction<[...R, undefined]> {
    if (!rules.int.accepts(version)) throw new ArgumentError(`check ${path}`, [misfit("version", version, rules.int)]);
    const full = this.#full(path, "check");
    return this.#add({
      code: OpCode.CHECK,
      name: "check",
      path,
      fullPath: full,
      write: (writer) => writePathAndInt(writer, full, version),
    });
  }

  create(
    path: string,
    data?: Payload,
    options: { readonly acl?: AclInput } & CreateMode = {},
  ): Transaction<[...R, Created]> {
    checkOptions("create", path, options, CREATE_STEP);
    const { root, view } = this.#place;
    const checked = isSequential(options) ? checkedSequentialPath(path, "create") : checkedPath(path, "create");
    const full = underRoot(root, checked);
    const acl = checkedAcl(options.acl ?? view.aclOf(full), "create", path);
    const { code, body } = createBody(data === undefined ? view.defaultData : data, { ...options, acl });
    return this.#add({
      code,
      name: "create",
      path,
      fullPath: full,
      data: body.data,
      write: (writer) => writeCreate(writer, { path: full, ...body }),
    });
  }

  /** @param options `version`: the data version that the node must have; default any */
  set(path: string, data: Payload, options: { readonly version?: number } = {}): Transaction<[...R, Stat]> {
    checkOptions("set", path, options, VERSION_STEP);
    const { version = -1 } = options;
    const full = this.#full(path, "set");
    const bytes = payloadBytes(data, "set");
    return this.#add({
      code: OpCode.SET_DATA,
      name: "set",
      path,
      fullPath: full,
      data: bytes,
      write: (writer) => writeSetData(writer, full, bytes, version),
    });
  }

  delete(path: string, options: { readonly version?: number } = {}): Transaction<[...R, undefined]> {
    checkOptions("delete", path, options, VERSION_STEP);
    const { version = -1 } = options;
    const full = this.#full(path, "delete");
    return this.#add({
      code: OpCode.DELETE,
      name: "delete",
      path,
      fullPath: full,
      write: (writer) => writePathAndInt(writer, full, version),
    });
  }

  /**
   * Applies all steps or none.
   *
   * @returns one result for each step, in order: a create's path and Stat, a set's Stat, undefined
   *   for checks and deletes
   * @throws TransactionError with the refused step and its code
   */
  async commit(options?: CallOptions): Promise<R> {
    checkOptions("transaction", undefined, options, CALL);
    const { driver, root, view } = this.#place;
    const parts = this.#parts;
    if (parts.length === 0) {
      const message = "transaction: there is nothing in it";
      throw zkError({ code: "BAD_ARGUMENTS", op: "transaction", outcome: "not-sent", message });
    }
    const shownPath = parts[0]?.path ?? "/";
    const limits = view.limitsOf(options);
    const results = await view.ask(driver, {
      operation: MULTI,
      path: "/",
      shownPath,
      body: [...parts],
      options: limits,
    });
    if (results.length !== parts.length) throw unreadableError("transaction", shownPath);
    if (results.some(({ op }) => op === "error")) throw new TransactionError(parts.map(failedOp(results)));
    const values = results.map((result) => resultOf(result, root));
    // The server answers the steps in order, and the type was built in the same order.
    return values as unknown as R;
  }

  #full(path: string, op: string): string {
    return underRoot(this.#place.root, checkedPath(path, op));
  }

  #add<T>(part: TransactionPart): Transaction<[...R, T]> {
    this.#parts.push(part);
    // The same builder with one more step in its type.
    return this as unknown as Transaction<[...R, T]>;
  }
}

function failedOp(results: readonly PartResult[]) {
  return ({ name, path }: TransactionPart, i: number) => {
    const result = results[i];
    const code = result?.op === "error" ? result.code : ErrorCode.OK;
    return { op: name, path, code: errorName(code) };
  };
}

function resultOf(result: PartResult, root: string): Created | Stat | undefined {
  switch (result.op) {
    case "create":
      if (result.stat === undefined) return undefined;
      return { path: withoutRoot(root, result.path), stat: result.stat };
    case "set":
      return result.stat;
    default:
      return undefined;
  }
}
