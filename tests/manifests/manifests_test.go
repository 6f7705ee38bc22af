// Package manifests reads the manifests of examples/fleet/kubernetes into the types of Kubernetes, in which each field has to
// exist. tests/serve/test_manifests.py does so with those of KServe.
package manifests

import (
	"bytes"
	"net/netip"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
	core "k8s.io/api/core/v1"
	discovery "k8s.io/api/discovery/v1"
	"sigs.k8s.io/yaml"
)

// folder has the manifests.
const folder = "../../examples/fleet/kubernetes/"

// documents are those of a file.
func documents(t *testing.T, file string) [][]byte {
	t.Helper()
	text, err := os.ReadFile(folder + file)
	require.NoError(t, err)
	return bytes.Split(text, []byte("\n---\n"))
}

// TestMacs: the service and its slice have known fields alone, and belong to each other.
func TestMacs(t *testing.T) {
	all := documents(t, "macs.yaml")
	require.Len(t, all, 2)
	var service core.Service
	var slice discovery.EndpointSlice
	require.NoError(t, yaml.UnmarshalStrict(all[0], &service))
	require.NoError(t, yaml.UnmarshalStrict(all[1], &slice))
	require.Equal(t, "v1 Service", service.APIVersion+" "+service.Kind)
	require.Equal(t, discovery.SchemeGroupVersion.String()+" EndpointSlice", slice.APIVersion+" "+slice.Kind)

	require.Empty(t, service.Spec.Selector, "a controller would write slices of its own")
	require.Equal(t, service.Name, slice.Labels[discovery.LabelServiceName])
	require.NotEmpty(t, slice.Labels[discovery.LabelManagedBy])
	require.Equal(t, discovery.AddressTypeIPv4, slice.AddressType)
	require.Len(t, slice.Ports, len(service.Spec.Ports))
	for i, port := range service.Spec.Ports {
		there := slice.Ports[i]
		require.Equal(t, port.Name, *there.Name)
		require.Equal(t, port.TargetPort.IntVal, *there.Port)
		require.Equal(t, port.Protocol, *there.Protocol)
		require.Equal(t, *port.AppProtocol, *there.AppProtocol)
	}
	require.NotEmpty(t, slice.Endpoints)
	for _, one := range slice.Endpoints {
		require.True(t, *one.Conditions.Ready)
		address, err := netip.ParseAddr(one.Addresses[0])
		require.NoError(t, err)
		require.True(t, address.Is4())
	}
}

// TestPods: what KServe takes over into pods is what pods have: the containers of the runtime.
func TestPods(t *testing.T) {
	var runtime struct {
		Spec struct {
			Containers []map[string]any `json:"containers"`
		} `json:"spec"`
	}
	require.NoError(t, yaml.Unmarshal(documents(t, "kserve.yaml")[0], &runtime))
	require.Len(t, runtime.Spec.Containers, 1)
	text, err := yaml.Marshal(runtime.Spec.Containers[0])
	require.NoError(t, err)
	var c core.Container
	require.NoError(t, yaml.UnmarshalStrict(text, &c))
	for _, probe := range []*core.Probe{c.StartupProbe, c.ReadinessProbe, c.LivenessProbe} {
		require.Equal(t, c.Ports[0].ContainerPort, probe.HTTPGet.Port.IntVal)
	}
}

// TestUnknownFields: the check can fail.
func TestUnknownFields(t *testing.T) {
	require.ErrorContains(t, yaml.UnmarshalStrict([]byte("spec: {prots: []}"), &core.Service{}), "prots")
}
