import { expect, test } from "vitest";
import { parseReleaseOptions, ReleaseError } from "./release-options.ts";

const REPOSITORY = ["--repository", "https://example.org/team/zooid"];
const CONTACT = ["--contact", "reports@example.org"];

test("a dry run needs neither repository nor contact", () => {
  expect(parseReleaseOptions(["--dry-run"])).toEqual({ dryRun: true, origin: undefined, tag: "latest", keep: false });
});

test("repository and contact are taken as they are given", () => {
  expect(parseReleaseOptions([...REPOSITORY, ...CONTACT])).toMatchObject({
    dryRun: false,
    origin: { repository: "https://example.org/team/zooid", contact: "reports@example.org" },
  });
  expect(parseReleaseOptions([...REPOSITORY, "--contact", "https://example.org/reports"]).origin).toBeDefined();
});

test.each([
  ["neither repository nor contact", []],
  ["no contact", REPOSITORY],
  ["no repository", CONTACT],
  ["a repository alone, in a dry run", ["--dry-run", ...REPOSITORY]],
  ["an empty contact, as an unset variable of a workflow gives it", [...REPOSITORY, "--contact", ""]],
  ["an empty repository", ["--repository", "", ...CONTACT]],
  ["a repository that is no URL", ["--repository", "zooid", ...CONTACT]],
  ["a repository that is read without encryption", ["--repository", "http://example.org/zooid", ...CONTACT]],
  ["a repository without a path", ["--repository", "https://example.org/", ...CONTACT]],
  ["a contact that is no address", [...REPOSITORY, "--contact", "me"]],
  ["a tag that is a version", [...REPOSITORY, ...CONTACT, "--tag", "1.0.0"]],
  ["an unknown option", ["--dry-run", "--force"]],
])("%s is refused", (_, argv) => {
  expect(() => parseReleaseOptions(argv)).toThrow(ReleaseError);
});
