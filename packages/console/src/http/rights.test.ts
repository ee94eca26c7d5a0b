import { expect, test } from "vitest";
import { ROLES_OF_REQUESTERS } from "../testing/requesters.ts";
import { RIGHTS, rightsAt } from "../testing/rights.ts";
import { startStage } from "../testing/stage.ts";

test("every route of the document has a row", async () => {
  await using stage = await startStage();
  const { json } = await stage.api("GET", "/openapi.json");
  const paths: Readonly<Record<string, object>> = json.paths;
  const routes = Object.entries(paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
  );
  expect(
    Object.keys(RIGHTS)
      .filter((name) => !name.includes(","))
      .sort(),
  ).toEqual(routes.sort());
});

test("every requester gets at every route what its role allows, and a refusal carries nothing out", async () => {
  await using stage = await startStage({ roles: ROLES_OF_REQUESTERS });
  const { faults, refusedCount, allowedCount } = await rightsAt(`${stage.url}/api/v1`, stage.zk);
  expect(faults).toEqual([]);
  expect(refusedCount).toBeGreaterThan(400);
  expect(allowedCount).toBeGreaterThan(150);
});
