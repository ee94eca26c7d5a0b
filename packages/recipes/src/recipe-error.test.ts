import { errorCode, ZkNodeError } from "@zooid/client";
import { expect, test } from "vitest";
import { isRecipeError, RecipeError } from "./recipe-error.ts";

test("isRecipeError recognizes errors of recipes, with a code and without one", () => {
  const error = new RecipeError("LEASE_LOST", "it is lost");
  // As another copy of the package makes it.
  const foreign = Object.assign(new Error("it is lost"), { code: "LOCK_TIMEOUT" });
  const others: readonly unknown[] = [
    new Error("no code"),
    Object.assign(new Error("of the system"), { code: "ENOENT" }),
    Object.assign(new Error("of an object"), { code: "toString" }),
    new ZkNodeError({ code: "NO_NODE", op: "get", path: "/a", outcome: "rejected" }),
    new DOMException("late", "TimeoutError"),
    undefined,
    { code: "LEASE_LOST" },
  ];
  expect([isRecipeError(error), isRecipeError(foreign), others.map((other) => isRecipeError(other))]).toEqual([
    true,
    true,
    others.map(() => false),
  ]);
  expect([isRecipeError(error, "LEASE_LOST"), isRecipeError(error, "LOCK_TIMEOUT")]).toEqual([true, false]);
});

test("the code of a recipe's error survives a clone, with a cause and without one", () => {
  const cause = new ZkNodeError({ code: "NODE_EXISTS", op: "create", path: "/a", outcome: "rejected" });
  for (const error of [
    new RecipeError("LEASE_LOST", "it is lost"),
    new RecipeError("LOCK_TIMEOUT", "it took too long"),
    new RecipeError("NAME_TAKEN", "it is taken", { cause }),
  ]) {
    expect(errorCode(structuredClone(error))).toBe(error.code);
  }
});
