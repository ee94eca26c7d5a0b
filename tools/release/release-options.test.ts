import { expect, test } from "vitest";
import { TRIAL_ORIGIN } from "../pack/published-manifest.ts";
import { parseReleaseOptions, ReleaseError } from "./release-options.ts";

const REPOSITORY = ["--repository", "https://host.invalid/team/zooid"];
const CONTACT = ["--contact", "reports@host.invalid"];

test("a dry run and the pages of the first release need neither repository nor contact", () => {
  expect(parseReleaseOptions(["--dry-run"])).toEqual({
    dryRun: true,
    origin: TRIAL_ORIGIN,
    tag: "latest",
    keep: false,
    firstRelease: false,
  });
  expect(parseReleaseOptions(["--first-release"]).firstRelease).toBe(true);
});

test("repository and contact are taken as they are given", () => {
  expect(parseReleaseOptions([...REPOSITORY, ...CONTACT])).toMatchObject({
    dryRun: false,
    origin: { repository: "https://host.invalid/team/zooid", contact: "reports@host.invalid" },
  });
  expect(parseReleaseOptions([...REPOSITORY, "--contact", "https://host.invalid/reports"]).origin).toBeDefined();
});

test.each([
  ["neither repository nor contact", []],
  ["no contact", REPOSITORY],
  ["no repository", CONTACT],
  ["a repository alone, in a dry run", ["--dry-run", ...REPOSITORY]],
  ["an empty contact, as an unset variable of a workflow gives it", [...REPOSITORY, "--contact", ""]],
  ["an empty repository", ["--repository", "", ...CONTACT]],
  ["a repository that is no URL", ["--repository", "zooid", ...CONTACT]],
  ["a repository that is read without encryption", ["--repository", "http://host.invalid/zooid", ...CONTACT]],
  ["a repository without a path", ["--repository", "https://host.invalid/", ...CONTACT]],
  ["a contact that is no address", [...REPOSITORY, "--contact", "me"]],
  ["a tag that is a version", [...REPOSITORY, ...CONTACT, "--tag", "1.0.0"]],
  ["an unknown option", ["--dry-run", "--force"]],
])("%s is refused", (_, argv) => {
  expect(() => parseReleaseOptions(argv)).toThrow(ReleaseError);
});
