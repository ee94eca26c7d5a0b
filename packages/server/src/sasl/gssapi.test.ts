import { expect, test } from "vitest";
import { type GssContext, GssError, type GssStep } from "./gss-context.ts";
import { GssapiExchange } from "./gssapi.ts";
import { PrincipalNames } from "./principal-names.ts";
import { parsePrincipalRules } from "./principal-rules.ts";

/**
 * A context whose tokens are words: `ticket` authenticates alice, and a seal stands for integrity.
 */
class Words implements GssContext {
  isDisposed = false;
  readonly #answer: string;
  readonly #client: string;

  constructor({ answer = "mutual", client = "alice@REALM" }: { readonly answer?: string; readonly client?: string }) {
    this.#answer = answer;
    this.#client = client;
  }

  accept(token: Uint8Array): GssStep {
    if (textOf(token) === "half") return { token: Buffer.from("more"), client: undefined };
    if (textOf(token) !== "ticket") throw new GssError("no such ticket");
    return { token: Buffer.from(this.#answer), client: this.#client };
  }

  wrap(message: Uint8Array): Uint8Array {
    return Buffer.concat([Buffer.from("seal:"), message]);
  }

  unwrap(wrapped: Uint8Array): Uint8Array {
    if (!textOf(wrapped).startsWith("seal:")) throw new GssError("no seal");
    return wrapped.subarray(5);
  }

  dispose(): void {
    this.isDisposed = true;
  }
}

const NOTHING = new Uint8Array();
const CHOICE = "seal:\x01\0\0\0";

function textOf(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("latin1");
}

/** The answers of the exchange to each token. */
function talk(options: ConstructorParameters<typeof Words>[0], ...tokens: readonly string[]) {
  const context = new Words(options);
  const rules = parsePrincipalRules("DEFAULT", "REALM");
  if (typeof rules === "string") throw new Error(rules);
  const names = new PrincipalNames({ rules, removesHost: false, removesRealm: true });
  const reasons: string[] = [];
  const exchange = new GssapiExchange({ context, names, failed: (reason) => reasons.push(reason) });
  const answers = tokens.map((token) => {
    const step = exchange.step(Buffer.from(token, "latin1"));
    if (step.kind === "failed") return "failed";
    return step.kind === "done" ? `${step.user} ${step.token}` : textOf(step.token);
  });
  return { answers, reasons, isDisposed: context.isDisposed };
}

test("a client with a ticket is authenticated after the offer and the choice of a layer, and its context is freed", () => {
  expect(talk({}, "half", "ticket", "", `${CHOICE}alice@REALM`)).toEqual({
    answers: ["more", "mutual", "seal:\x01\0\0\0", "alice undefined"],
    reasons: [],
    isDisposed: true,
  });
});

test("without mutual authentication the offer comes at once", () => {
  expect(talk({ answer: "" }, "ticket", CHOICE).answers).toEqual(["seal:\x01\0\0\0", "alice undefined"]);
});

test("the user that a client asks to be does not count", () => {
  expect(talk({}, "ticket", "", `${CHOICE}super`).answers.at(-1)).toBe("alice undefined");
});

test.each<[string, ConstructorParameters<typeof Words>[0], readonly string[]]>([
  ["another token than a ticket", {}, ["guess"]],
  ["a token that is too long", {}, ["x".repeat(65_537)]],
  ["a token where none is expected", {}, ["ticket", "ticket"]],
  ["a choice without its seal", {}, ["ticket", "", "\x01\0\0\0"]],
  ["a choice that is too short", {}, ["ticket", "", "seal:\x01\0\0"]],
  ["a layer that is not on offer", {}, ["ticket", "", "seal:\x02\0\0\0"]],
  ["a principal of another realm", { client: "alice@OTHER" }, ["ticket", "", CHOICE]],
])("%s fails with a reason, and so does every later token", (_, options, tokens) => {
  const { answers, reasons, isDisposed } = talk(options, ...tokens, "ticket", "", CHOICE);
  expect(answers.slice(tokens.length - 1)).toEqual(["failed", "failed", "failed", "failed"]);
  expect([reasons.length, isDisposed]).toEqual([1, true]);
});

test("an empty first token fails, as no client sends one", () => {
  expect(talk({}, textOf(NOTHING)).answers).toEqual(["failed"]);
});
