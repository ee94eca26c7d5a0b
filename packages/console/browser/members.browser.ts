import { afterAll, expect, test } from "vitest";
import { SUPER, startEnsembleStage } from "../src/testing/ensemble-stage.ts";
import { axeFindings } from "./axe.ts";
import { closeBrowser, screenshot, withPages } from "./browser-stage.ts";
import { logIn } from "./login.ts";

afterAll(closeBrowser);

test("a server joins by the wizard once it has all data, and the leadership is transferred", async () => {
  await using stage = withPages(await startEnsembleStage({ name: "example" }));
  const page = await stage.open("#/ensemble");
  await page.locator(".member .role-leader").waitFor();
  const open = async (procedure: string): Promise<void> => {
    await page.getByRole("button", { name: "Change members" }).click();
    await page.getByRole("combobox", { name: "Procedure" }).selectOption({ label: procedure });
  };
  const dialog = page.getByRole("dialog");

  await open("Add a server");
  await dialog.getByRole("textbox").fill(stage.place(4));
  await dialog.getByRole("button", { name: "Check" }).click();
  const checks = dialog.getByRole("list", { name: "Checks" });
  await checks.getByText("Server 4 does not have all data").waitFor();
  const make = dialog.getByRole("button", { name: "Make the change" });
  expect(await make.isDisabled()).toBe(true);
  await dialog.getByRole("region", { name: "Settings of the new server" }).getByText("server.4=").waitFor();
  expect(await axeFindings(page)).toEqual([]);
  await screenshot(page, "member-wizard-light");
  await stage.start(4);
  await checks.getByText("Server 4 has all data").waitFor();
  // The anonymous user may not change the ensemble: its server refuses.
  await make.click();
  await dialog.getByRole("alert").waitFor();
  await page.keyboard.press("Escape");
  await logIn(page, SUPER);
  await open("Add a server");
  await dialog.getByRole("textbox").fill(stage.place(4));
  await dialog.getByRole("button", { name: "Check" }).click();
  await checks.getByText("Server 4 has all data").waitFor();
  await make.click();
  await page.getByText("is committed").waitFor();
  await page.getByRole("article", { name: `Member ${stage.place(4).split(";")[1]}` }).waitFor();

  const follower = [...stage.servers].find(([sid, { summary }]) => sid < 4 && summary.role === "following")?.[0] ?? 0;
  await open("Transfer the leadership");
  await dialog.getByRole("combobox", { name: "To" }).selectOption(String(follower));
  await dialog.getByRole("button", { name: "Check" }).click();
  expect(await axeFindings(page)).toEqual([]);
  await dialog.getByRole("button", { name: "Transfer the leadership" }).click();
  await page.getByText(`Server ${follower} leads`).first().waitFor();

  // A server that just lost its leadership has no role for a moment.
  await page.locator(".member .role-leader").waitFor();
  await open("Drain a server before maintenance");
  await dialog.getByRole("combobox", { name: "Server" }).selectOption(String(follower));
  await dialog.getByRole("button", { name: "Check" }).click();
  await dialog.getByText(/The server serves \d+ connections/).waitFor();
  expect(await axeFindings(page)).toEqual([]);
  await dialog.getByRole("button", { name: "Drain the server" }).click();
  await dialog.getByText("The server is drained and can be stopped.").waitFor();
  await dialog.getByRole("button", { name: "End the drain" }).click();
  await dialog.getByText(/The server serves \d+ connections/).waitFor();
});

test("a removal that would lose the quorum cannot be made", async () => {
  await using stage = withPages(await startEnsembleStage({ name: "example" }));
  const page = await stage.open("#/ensemble");
  await page.locator(".member .role-leader").waitFor();
  const followers = [...stage.servers].filter(([, { summary }]) => summary.role === "following").map(([sid]) => sid);
  const [gone = 0, other = 0] = followers;
  await stage.stop(gone);
  await page.getByRole("button", { name: "Change members" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("combobox", { name: "Procedure" }).selectOption({ label: "Remove a server" });
  await dialog.getByRole("combobox", { name: "Server" }).selectOption(String(other));
  await dialog.getByRole("button", { name: "Check" }).click();
  await dialog.getByText("The voters after the change would be no quorum").waitFor();
  expect(await dialog.getByRole("button", { name: "Make the change" }).isDisabled()).toBe(true);
});
