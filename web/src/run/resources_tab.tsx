/** What a run made in other systems, or took over from them. */
import { useInfiniteQuery } from "@tanstack/react-query";
import { resourcesQuery } from "../api/resources";
import { Button } from "../parts/button";
import { Empty, Failure, isLost, Waiting } from "../parts/states";
import { ResourceRows } from "../resources/rows";
import styles from "../resources/resources.module.css";

export function ResourcesTab({ id }: { id: string }) {
  const pages = useInfiniteQuery(resourcesQuery({ run: id }));
  const { data, error, refetch } = pages;
  const rows = data?.pages.flatMap((page) => page.data) ?? [];
  if (isLost(error, data)) return <Failure error={error} what="The resources could not be listed" onRetry={() => void refetch()} />;
  if (!data) return <Waiting what="The resources are loading" />;
  if (rows.length === 0) {
    return (
      <Empty title="It has linked nothing">
        <p>A step that creates an item, a message or a page in another system can link it to its run.</p>
      </Empty>
    );
  }
  return (
    <div className={styles["view"]}>
      <ResourceRows rows={rows} />
      {pages.hasNextPage && (
        <p className={styles["more"]}>
          <Button disabled={pages.isFetching} onClick={() => void pages.fetchNextPage()}>
            Show more
          </Button>
        </p>
      )}
    </div>
  );
}
