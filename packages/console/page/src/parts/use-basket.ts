import { useEffect, useState } from "preact/hooks";
import { basket, type Kept } from "../model/basket.ts";

/** The gathered writes, drawn again when they change. */
export function useBasket(): readonly Kept[] {
  const [drafts, setDrafts] = useState(basket.drafts);
  useEffect(() => {
    const update = (): void => setDrafts(basket.drafts);
    update();
    return basket.listen(update);
  }, []);
  return drafts;
}
