import java.nio.charset.StandardCharsets;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.x.discovery.ServiceCache;
import org.apache.curator.x.discovery.ServiceDiscovery;
import org.apache.curator.x.discovery.ServiceDiscoveryBuilder;
import org.apache.curator.x.discovery.ServiceInstance;
import org.apache.curator.x.discovery.ServiceType;
import org.apache.curator.x.discovery.UriSpec;
import org.apache.curator.x.discovery.details.JsonInstanceSerializer;

/** Curator's service discovery, one line a command and one line an answer: DiscoveryPeer HOST:PORT TIMEOUT-MS PATH. */
public final class DiscoveryPeer {
  private static final JsonInstanceSerializer<Object> SERIALIZER = new JsonInstanceSerializer<>(Object.class);
  private static final Map<String, ServiceInstance<Object>> REGISTERED = new HashMap<>();

  public static void main(String[] args) throws Exception {
    CuratorFramework client = Lines.connected(args[0], Integer.parseInt(args[1]));
    ServiceDiscovery<Object> discovery =
        ServiceDiscoveryBuilder.builder(Object.class).client(client).basePath(args[2]).serializer(SERIALIZER).build();
    discovery.start();
    ServiceCache<Object> cache = discovery.serviceCacheBuilder().name("web").build();
    cache.start();
    Lines.answerAll(client, words -> answer(discovery, cache, words));
  }

  private static String answer(ServiceDiscovery<Object> discovery, ServiceCache<Object> cache, String[] words) throws Exception {
    switch (words[0]) {
      case "register":
        ServiceInstance<Object> instance =
            ServiceInstance.builder()
                .name("web")
                .id(words[1])
                .address("10.0.0.1")
                .port(80)
                .payload(payload(words[2]))
                .serviceType(ServiceType.valueOf(words[3]))
                .uriSpec(new UriSpec("{scheme}://{address}:{port}/{[}x{]}"))
                .build();
        REGISTERED.put(words[1], instance);
        discovery.registerService(instance);
        return new String(SERIALIZER.serialize(instance), StandardCharsets.UTF_8);
      case "unregister":
        discovery.unregisterService(REGISTERED.remove(words[1]));
        return "unregistered";
      case "instance":
        return describe(discovery.queryForInstance("web", words[1]));
      case "rewrite":
        byte[] bytes = SERIALIZER.serialize(discovery.queryForInstance("web", words[1]));
        return new String(bytes, StandardCharsets.UTF_8);
      case "names":
        return discovery.queryForNames().toString();
      case "cached":
        return cached(cache, words.length > 1 ? words[1] : "");
      default:
        return "no such command";
    }
  }

  private static Object payload(String kind) {
    switch (kind) {
      case "map":
        Map<String, Object> map = new HashMap<>();
        map.put("zone", "a");
        map.put("weight", 3);
        return map;
      case "text":
        return "plain \"text\" é \u0001\u001f";
      case "number":
        return 5;
      case "long":
        return 5L;
      default:
        return null;
    }
  }

  private static String describe(ServiceInstance<Object> found) {
    if (found == null) return "none";
    Object payload = found.getPayload();
    String kind = payload == null ? "nothing" : payload.getClass().getName() + " " + payload;
    String uri = found.getUriSpec() == null ? "no URI" : found.buildUriSpec();
    return found.getId() + " " + found.getAddress() + ":" + found.getPort() + " " + found.getServiceType() + " " + uri + " " + kind;
  }

  /** The ids in the cache, when it holds those that are expected. */
  private static String cached(ServiceCache<Object> cache, String expected) throws Exception {
    for (int i = 0; ; i++) {
      Collection<ServiceInstance<Object>> instances = cache.getInstances();
      String ids = String.join(",", instances.stream().map(ServiceInstance::getId).sorted().toArray(String[]::new));
      if (ids.equals(expected) || i == 200) return "[" + ids + "]";
      Thread.sleep(50);
    }
  }
}
