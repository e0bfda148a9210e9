#!/usr/bin/python3
"""Each rule of policy.py finds what breaks it: policy_test.py DIRECTORY of rendered sets."""
import pathlib
import sys

import policy

# What is done to one rendered set, as Python on its objects by kind, and words of what must be said of it.
BREAKS = (
    ("minimal", "storage['securityContext']['privileged'] = True", "nothing here may have it"),
    ("minimal", "spec['volumes'].append({'name': 'x', 'hostPath': {'path': '/dev'}})", "nothing here may have it"),
    ("minimal", "del spec['securityContext']['seccompProfile']", "no seccomp profile"),
    ("minimal", "spec['automountServiceAccountToken'] = True", "a token"),
    ("minimal", "storage['securityContext']['readOnlyRootFilesystem'] = False", "root can be written"),
    ("minimal", "storage['securityContext']['capabilities']['drop'] = ['CHOWN']", "does not drop all"),
    ("minimal", "storage['securityContext']['capabilities']['add'] = ['SYS_ADMIN']", "adds"),
    ("minimal", "spec['securityContext']['runAsUser'] = 0", "contradicts its user"),
    ("minimal", "storage['securityContext']['capabilities']['add'] = ['IPC_LOCK']", "may gain privileges"),
    ("shared-rdma", "spec['securityContext'].update(runAsUser=65532, runAsNonRoot=True)", "may gain privileges"),
    ("minimal", "del storage['readinessProbe']", "no readinessProbe"),
    ("minimal", "storage['livenessProbe']['httpGet']['port'] = 'grpc2'", "no livenessProbe"),
    ("minimal", "storage['args'].remove('--insecure')", "neither a certificate"),
    ("tcp", "storage['args'].append('--insecure')", "neither a certificate"),
    ("minimal", "spec['terminationGracePeriodSeconds'] = 5", "is killed before"),
    ("shared-rdma", "storage['resources']['requests']['hugepages-2Mi'] = '1Gi'", "not its requests"),
    ("shared-rdma", "storage['volumeMounts'] = storage['volumeMounts'][:-1]", "is not mounted"),
    ("minimal", "storage['args'] = [word for word in storage['args'] if word != '--rail']", "no rail"),
    ("tcp", "i = storage['args'].index('r0=tcp:%net1:7411'); storage['args'][i], storage['args'][i + 2] = storage['args'][i + 2], "
            "storage['args'][i]", "the annotation has"),
    ("minimal", "spec['volumes'].append({'name': 'x', 'emptyDir': {}})", "of the volumes"),
    ("dra", "del spec['resourceClaims'][0]", "claims"),
    ("dra", "spec['resourceClaims'][0]['resourceClaimTemplateName'] = 'other'", "no template"),
    ("tcp", "spec['volumes'][1]['secret']['secretName'] = 'other'", "no certificate makes"),
    ("cert-manager", "spec['volumes'][1]['configMap']['name'] = 'other'", "no ConfigMap"),
    ("minimal", "kinds['Service']['spec']['selector']['app.kubernetes.io/component'] = 'x'", "selects nothing"),
    ("minimal", "storage['ports'].append({'name': 'more', 'containerPort': 7777})", "no policy has port 7777"),
    ("minimal", "kinds['NetworkPolicy']['spec']['ingress'][0]['from'] = []", "open to anybody"),
    ("minimal", "kinds['StatefulSet']['spec']['podManagementPolicy'] = 'OrderedReady'", "wait for each other"),
    ("minimal", "kinds['PodDisruptionBudget']['spec']['maxUnavailable'] = 1", "lets recordings be ended"),
)


def try_one(directory, shape, change, said):
    objects = policy.load(directory / f"{shape}.yaml")
    kinds = {each["kind"]: each for each in reversed(objects)}
    spec = kinds["StatefulSet"]["spec"]["template"]["spec"]
    exec(change, {"kinds": kinds, "spec": spec, "storage": spec["containers"][0]})  # pylint: disable=exec-used
    found = list(policy.check(objects))
    return [] if any(said in wrong for wrong in found) else [f"{shape}, {change}: not '{said}' but {found}"]


if __name__ == "__main__":
    missed = [line for case in BREAKS for line in try_one(pathlib.Path(sys.argv[1]), *case)]
    print("\n".join(missed) or f"{len(BREAKS)} breaches are found")
    sys.exit(1 if missed else 0)
