#!/usr/bin/python3
"""What every rendered set of the chart keeps to: policy.py FILE... prints what does not, and fails then."""
import json
import pathlib
import sys

import yaml

DAEMONS = ("storage", "worker")
NETWORKS = "k8s.v1.cni.cncf.io/networks"
# (root, IPC_LOCK, privileges may be gained) of a container that locks memory, by rdma.memlock.
MEMLOCK = {(True, True, False), (False, True, True), (False, False, False)}


def walk(value, path=""):
    """(path, key, value) of everything in it."""
    for key, inner in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        yield f"{path}.{key}", key, inner
        yield from walk(inner, f"{path}.{key}")


def pods(objects):
    """(owner, metadata of its pods, their spec)"""
    for each in objects:
        if each["kind"] == "Pod":
            yield each, each["metadata"], each["spec"]
        elif "template" in each.get("spec", {}) and "spec" in each["spec"]["template"]:
            yield each, each["spec"]["template"].get("metadata", {}), each["spec"]["template"]["spec"]


def containers(spec):
    return spec.get("initContainers", []) + spec["containers"]


def rails(container):
    """NAME=KIND:ADDRESS of each."""
    args = container.get("args", [])
    return [args[i + 1] for i, word in enumerate(args) if word == "--rail"]


def selects(selector, labels):
    return all(labels.get(key) == value for key, value in selector.items())


def check_anywhere(objects):
    for each in objects:
        for path, key, value in walk(each):
            if key == "privileged" and value or key in ("hostPath", "hostPID", "hostIPC"):
                yield f"{each['kind']}{path}: nothing here may have it"


def check_security(owner, _, spec):
    pod = spec.get("securityContext", {})
    if pod.get("seccompProfile", {}).get("type") not in ("RuntimeDefault", "Localhost"):
        yield "no seccomp profile"
    if spec.get("automountServiceAccountToken") is not False:
        yield "has a token of the cluster"
    for each in containers(spec):
        own, name = each.get("securityContext", {}), each["name"]
        added = own.get("capabilities", {}).get("add", [])
        root = own.get("runAsUser", pod.get("runAsUser")) == 0
        if own.get("readOnlyRootFilesystem") is not True:
            yield f"{name}: its root can be written"
        if own.get("capabilities", {}).get("drop") != ["ALL"]:
            yield f"{name}: does not drop all capabilities"
        if set(added) - {"IPC_LOCK"}:
            yield f"{name}: adds {added}"
        if own.get("runAsNonRoot", pod.get("runAsNonRoot")) is not (not root):
            yield f"{name}: runAsNonRoot contradicts its user"
        rdma = any(kind in rail for rail in rails(each) for kind in ("=verbs:", "=auto:"))
        is_so = (root, bool(added), own.get("allowPrivilegeEscalation"))
        if is_so not in (MEMLOCK if rdma else {(False, False, False)}):
            yield f"{name}: (root, IPC_LOCK, may gain privileges) is {is_so}"


def check_daemon(owner, _, spec):
    for each in containers(spec):
        if each["name"] not in DAEMONS:
            continue
        name, args = each["name"], each["args"]
        ports = {port["name"] for port in each["ports"]}
        for probe, path in (("startupProbe", "/healthz"), ("livenessProbe", "/healthz"), ("readinessProbe", "/readyz")):
            asked = each.get(probe, {}).get("httpGet", {})
            if asked.get("path") != path or asked.get("port") not in ports:
                yield f"{name}: no {probe} of {path} at a port that it has"
        secure = [word in args for word in ("--tls-cert", "--tls-key", "--tls-ca")]
        if len(set(secure)) != 1 or secure[0] == ("--insecure" in args):
            yield f"{name}: neither a certificate nor --insecure, or both"
        if spec["terminationGracePeriodSeconds"] < 15:
            yield "is killed before its sessions have ended"


def check_resources(owner, _, spec):
    for each in containers(spec):
        own = each.get("resources", {})
        if not own.get("limits") or own.get("limits") != own.get("requests"):
            yield f"{each['name']}: limits are not its requests, so it is not Guaranteed"
        mounted = {m["name"] for m in each.get("volumeMounts", [])}
        for resource in own.get("limits", {}):
            if resource.startswith("hugepages-") and resource.lower() not in mounted:
                yield f"{each['name']}: {resource} is not mounted"


def check_rails(owner, meta, spec):
    attached = json.loads(meta.get("annotations", {}).get(NETWORKS, "[]"))
    for each in containers(spec):
        if each["name"] not in DAEMONS:
            continue
        if not rails(each):
            yield f"{each['name']}: no rail"
        named = [rail.split("%")[1].split(":")[0] for rail in rails(each) if "%" in rail]
        if attached and [network["interface"] for network in attached] != named:
            yield f"{each['name']}: its rails are {named}, the annotation has {attached}"
        if spec.get("hostNetwork") and attached:
            yield "has the host's network and attachments"


def check_volumes(owner, _, spec):
    there = {v["name"] for v in spec.get("volumes", [])}
    claims = {c["metadata"]["name"] for c in owner["spec"].get("volumeClaimTemplates", [])}
    used = {m["name"] for c in containers(spec) for m in c.get("volumeMounts", []) + c.get("volumeDevices", [])}
    if used != there | claims:
        yield f"mounts {sorted(used)} of the volumes {sorted(there | claims)}"
    asked = {c["name"] for each in containers(spec) for c in each.get("resources", {}).get("claims", [])}
    if asked != {c["name"] for c in spec.get("resourceClaims", [])}:
        yield f"its containers have the claims {sorted(asked)} of others of the pod"


def check_references(objects):
    """Secrets, settings and claims that a pod names are among the objects, if the chart is to make them."""
    made = {(o["kind"], o["metadata"]["name"]) for o in objects}
    certificates = {o["spec"]["secretName"] for o in objects if o["kind"] == "Certificate"}
    for owner, _, spec in pods(objects):
        for volume in spec.get("volumes", []):
            secret = volume.get("secret", {}).get("secretName")
            if certificates and secret and secret not in certificates:
                yield f"{owner['metadata']['name']}: no certificate makes the Secret {secret}"
            settings = volume.get("configMap", {}).get("name")
            if settings and ("ConfigMap", settings) not in made:
                yield f"{owner['metadata']['name']}: no ConfigMap {settings}"
        for claim in spec.get("resourceClaims", []):
            if ("ResourceClaimTemplate", claim["resourceClaimTemplateName"]) not in made:
                yield f"{owner['metadata']['name']}: no template of the claim {claim['name']}"


def check_selectors(objects):
    labels = [meta.get("labels", {}) for _, meta, _ in pods(objects)]
    for each in objects:
        selector = each.get("spec", {}).get("selector") if each["kind"] != "NetworkPolicy" else each["spec"]["podSelector"]
        if not selector:
            continue
        selector = selector.get("matchLabels", selector)
        of = labels if each["kind"] != "ServiceMonitor" else [o["metadata"]["labels"] for o in objects if o["kind"] == "Service"]
        if sum(selects(selector, other) for other in of) == 0:
            yield f"{each['kind']} {each['metadata']['name']}: selects nothing"


def open_ports(objects, labels):
    for each in objects:
        if each["kind"] == "NetworkPolicy" and selects(each["spec"]["podSelector"]["matchLabels"], labels):
            for rule in each["spec"]["ingress"]:
                if not rule.get("from"):
                    yield "anybody"
                yield from (port["port"] for port in rule["ports"])


def check_ports(objects):
    """Where there are policies at all, each port is in one, unless nobody at all may read metrics."""
    if not any(o["kind"] == "NetworkPolicy" for o in objects):
        return
    for owner, meta, spec in pods(objects):
        opened = set(open_ports(objects, meta.get("labels", {})))
        if "anybody" in opened:
            yield f"{owner['metadata']['name']}: a port is open to anybody"
        for each in containers(spec):
            for port in each.get("ports", []):
                closed = port["name"] == "admin" and not any(p in opened for p in (9400, 9500))
                if port["containerPort"] not in opened and not closed:
                    yield f"{owner['metadata']['name']}: no policy has port {port['containerPort']}"


def check_storage(objects):
    for each in objects:
        if each["kind"] == "StatefulSet":
            spec = each["spec"]
            if set(spec["persistentVolumeClaimRetentionPolicy"].values()) != {"Retain"} or spec["podManagementPolicy"] != "Parallel":
                yield "StatefulSet: recordings are not retained, or nodes wait for each other"
        if each["kind"] == "PodDisruptionBudget" and each["spec"].get("maxUnavailable") != 0:
            yield "PodDisruptionBudget: lets recordings be ended"


OF_ALL = (check_anywhere, check_references, check_selectors, check_ports, check_storage)
OF_A_POD = (check_security, check_daemon, check_resources, check_rails, check_volumes)


def check(objects):
    for one in OF_ALL:
        yield from one(objects)
    for pod in pods(objects):
        for one in OF_A_POD:
            yield from (f"{pod[0]['kind']} {pod[0]['metadata']['name']}: {wrong}" for wrong in one(*pod))


def load(path):
    return [each for each in yaml.load_all(pathlib.Path(path).read_text(encoding="utf-8"), yaml.CSafeLoader) if each]


if __name__ == "__main__":
    found = [f"{pathlib.Path(path).stem}: {wrong}" for path in sys.argv[1:] for wrong in check(load(path))]
    print("\n".join(found) or f"{len(sys.argv) - 1} sets keep the rules")
    sys.exit(1 if found else 0)
