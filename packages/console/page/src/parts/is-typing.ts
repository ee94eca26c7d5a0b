/** Keys that belong to a field or a dialog are no shortcuts. */
export function isTyping({ target }: KeyboardEvent): boolean {
  return target instanceof Element && target.closest("input, textarea, select, dialog") !== null;
}
