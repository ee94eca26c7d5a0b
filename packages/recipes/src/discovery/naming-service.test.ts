import { type Client, text } from "@zooid/client";
import { firstValueFrom, skipWhile, take, toArray } from "rxjs";
import { expect, test } from "vitest";
import { isRecipeError } from "../recipe-error.ts";
import { eachStaged } from "../testing/each-staged.ts";
import { failure, tree } from "../testing/stage.ts";
import { NamingService } from "./naming-service.ts";

const PATH = "/names";

let a: Client;
let b: Client;

eachStaged((staged) => {
  ({ a, b } = staged);
});

test("a name belongs to one client until it is released", async () => {
  const [mine, theirs] = [new NamingService(a, PATH, text), new NamingService(b, PATH, text)];
  expect([await mine.lookup("hosts", "db"), await mine.names("hosts")]).toEqual([undefined, []]);
  await mine.register("hosts", "db", "10.0.0.1");
  expect(isRecipeError(await failure(theirs.register("hosts", "db", "10.0.0.2")), "NAME_TAKEN")).toBe(true);
  expect(await theirs.lookup("hosts", "db")).toBe("10.0.0.1");
  await theirs.register("users", "db", "of another kind");
  expect(await tree(b, PATH)).toEqual(["hosts", "hosts/db", "users", "users/db"]);
  await mine.unregister("hosts", "db");
  await mine.unregister("hosts", "db");
  await theirs.register("hosts", "db", "10.0.0.2");
  expect(await mine.names("hosts")).toEqual(["db"]);
});

test("a name's value is reported when another client takes it", async () => {
  const [mine, theirs] = [new NamingService(a, PATH, text), new NamingService(b, PATH, text)];
  await mine.register("hosts", "db", "10.0.0.1");
  const reported = firstValueFrom(
    theirs.lookup$("hosts", "db").pipe(
      skipWhile((value) => value !== undefined),
      take(1),
      toArray(),
    ),
  );
  await mine.unregister("hosts", "db");
  expect(await reported).toEqual([undefined]);
  await mine.register("hosts", "db", "10.0.0.2");
  await firstValueFrom(theirs.lookup$("hosts", "db").pipe(skipWhile((value) => value !== "10.0.0.2")));
});
