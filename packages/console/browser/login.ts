import type { Page } from "playwright-core";

/** Logs in by the page's dialog, and waits until the page shows the user. */
export async function logIn(page: Page, { user, password }: { user: string; password: string }): Promise<void> {
  await page.getByRole("button", { name: "Log in" }).first().click();
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("textbox", { name: "User" }).fill(user);
  await dialog.getByLabel("Password").fill(password);
  await dialog.getByRole("button", { name: "Log in" }).click();
  await page.locator(".user-name").getByText(user).waitFor();
}
