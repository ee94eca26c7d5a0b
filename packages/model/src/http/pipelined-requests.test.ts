import { expect, test } from "vitest";
import { PipelinedRequests } from "./pipelined-requests.ts";

test("requests of a connection begin one after the other, and those of others beside them", () => {
  const requests = new PipelinedRequests<object>();
  const begun: string[] = [];
  const [one, other] = [{}, {}];
  for (const name of ["a", "b", "c"]) requests.add(one, () => begun.push(name));
  requests.add(other, () => begun.push("x"));
  expect(begun).toEqual(["a", "x"]);
  requests.answered(one);
  expect(begun).toEqual(["a", "x", "b"]);
  requests.answered(one);
  requests.answered(one);
  requests.add(one, () => begun.push("d"));
  expect(begun).toEqual(["a", "x", "b", "c", "d"]);
});

test("more than sixteen do not wait", () => {
  const requests = new PipelinedRequests<object>();
  const connection = {};
  const taken = Array.from({ length: 20 }, () => requests.add(connection, () => {}));
  expect(taken.filter((isTaken) => isTaken)).toHaveLength(17);
});

test("what waits on a connection that is closed is not carried out", () => {
  const requests = new PipelinedRequests<object>();
  const connection = {};
  const begun: string[] = [];
  for (const name of ["a", "b"]) requests.add(connection, () => begun.push(name));
  requests.closed(connection);
  requests.answered(connection);
  expect(begun).toEqual(["a"]);
});
