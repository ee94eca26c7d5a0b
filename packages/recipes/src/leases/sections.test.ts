import { expect, test } from "vitest";
import { Sections } from "./sections.ts";

const { signal } = new AbortController();

test("nested work has the owner of its section, and work beside it another one", async () => {
  const sections = new Sections();
  const owners = await sections.run(signal, async (outer) => {
    const inner = await sections.run(signal, async (owner) => owner);
    return [outer, inner, sections.owner];
  });
  expect(new Set(owners).size).toBe(1);
  expect(await sections.run(signal, async (owner) => owners.includes(owner))).toBe(false);
  expect(sections.owner).toBeUndefined();
});

test("work that outlives its section has the owner of the section around it, and at last none", async () => {
  const sections = new Sections();
  const [nestedIsOver, allIsOver] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const seen: (object | undefined)[] = [];
  let late: Promise<void> | undefined;
  const owner = await sections.run(signal, async (outer) => {
    await sections.run(signal, async () => {
      late = (async () => {
        await nestedIsOver.promise;
        seen.push(sections.owner);
        await allIsOver.promise;
        seen.push(sections.owner, await sections.run(signal, async (own) => own));
      })();
    });
    nestedIsOver.resolve();
    await Promise.resolve();
    return outer;
  });
  allIsOver.resolve();
  await late;
  expect(seen).toEqual([owner, undefined, expect.any(Object)]);
  expect(seen[2]).not.toBe(owner);
});

test("nested sections of one owner wait for each other", async () => {
  const sections = new Sections();
  const steps: string[] = [];
  await sections.run(signal, () =>
    Promise.all(
      ["a", "b"].map((name) =>
        sections.run(signal, async () => {
          steps.push(`${name} begins`);
          await Promise.resolve();
          steps.push(`${name} ends`);
        }),
      ),
    ),
  );
  expect(steps).toEqual(["a begins", "a ends", "b begins", "b ends"]);
});
