0000000000000000 <kelvin::avx512::normals(kelvin::Stream const&, unsigned long, float*, unsigned long)>:
       0:	test   %rcx,%rcx
       3:	je     18e2 <kelvin::avx512::normals(kelvin::Stream const&, unsigned long, float*, unsigned long)+0x18e2>
       9:	push   %rbp
       a:	mov    %rsi,%r9
       d:	mov    %rdx,%r10
      10:	mov    %rcx,%r11
      13:	mov    %rsp,%rbp
      16:	push   %rbx
      17:	and    $0xffffffffffffffc0,%rsp
      1b:	sub    $0x6c8,%rsp
      22:	mov    (%rdi),%r8
      25:	mov    0x10(%rdi),%rdx
      29:	movzwl 0x18(%rdi),%eax
      2d:	mov    0x8(%rdi),%edi
      30:	mov    %r8,%rsi
      33:	vmovd  %r8d,%xmm6
      38:	mov    %rdx,%rcx
      3b:	shr    $0x20,%rsi
      3f:	shr    $0x20,%rcx
      43:	vpinsrd $0x1,%esi,%xmm6,%xmm0
      49:	shl    $0x10,%ecx
      4c:	vpunpcklqdq %xmm0,%xmm0,%xmm0
      50:	or     %eax,%ecx
      52:	mov    $0xcd9e8d57,%eax
      57:	vinserti128 $0x1,%xmm0,%ymm0,%ymm0
      5d:	imul   %rax,%rcx
      61:	vinserti64x4 $0x1,%ymm0,%zmm0,%zmm0
      68:	vpaddd 0x0(%rip),%zmm0,%zmm0        # 72 <kelvin::avx512::normals(kelvin::Stream const&, unsigned long, float*, unsigned long)+0x72>
      72:	vpmovzxdq %ymm0,%zmm1
      78:	mov    %rcx,%rax
      7b:	vextracti32x8 $0x1,%zmm0,%ymm0
      82:	valignq $0x5,%zmm1,%zmm1,%zmm7
      89:	vmovq  %xmm1,%rbx
      8e:	shr    $0x20,%rax
      92:	vpmovzxdq %ymm0,%zmm0
      98:	valignq $0x3,%ymm1,%ymm1,%ymm2
      9f:	xor    %ebx,%edx
      a1:	xor    %eax,%edx
      a3:	mov    $0xd2511f53,%eax
      a8:	imul   %rdx,%rax
      ac:	vmovq  %xmm7,%rdx
      b1:	xor    %rax,%rdx
      b4:	vmovq  %xmm2,%rbx
      b9:	shr    $0x20,%rax
      bd:	vpbroadcastq %rdx,%zmm6
      c3:	vpextrq $0x1,%xmm1,%rdx
      c9:	xor    %rbx,%rax
      cc:	vmovdqa64 %zmm6,0x2c8(%rsp)
      d7:	xor    %rdi,%rdx
      da:	vextracti64x2 $0x1,%ymm1,%xmm6
      e1:	vpbroadcastq %rdx,%zmm7
      e7:	vmovdqa64 %zmm7,0x288(%rsp)
      f2:	vmovq  %xmm6,%rdx
      f7:	vpbroadcastq %rax,%zmm6
      fd:	mov    $0x4,%eax
     102:	vpbroadcastq %rax,%zmm4
     108:	xor    %rcx,%rdx
     10b:	mov    $0x6,%eax
     110:	vmovdqa64 %zmm6,0x4c8(%rsp)
     11b:	vpbroadcastq %rax,%zmm3
     121:	vpbroadcastq %rdx,%zmm7
     127:	mov    $0x7,%eax
     12c:	vpbroadcastq %rax,%zmm2
     132:	mov    $0x1,%eax
     137:	vmovdqa64 %zmm7,0x248(%rsp)
     142:	vpermq %zmm1,%zmm4,%zmm7
     148:	vpermq %zmm1,%zmm3,%zmm6
     14e:	vmovdqa64 %zmm7,0x3c8(%rsp)
     159:	vpermq %zmm1,%zmm2,%zmm7
     15f:	vpbroadcastq %rax,%zmm1
     165:	vmovdqa64 %zmm6,0x188(%rsp)
     170:	mov    $0x2,%eax
     175:	vpbroadcastq %xmm0,%zmm6
     17b:	vmovdqa64 %zmm7,0x588(%rsp)
     186:	vpermq %zmm0,%zmm1,%zmm7
     18c:	vpbroadcastq %rax,%zmm1
     192:	mov    $0x3,%eax
     197:	vmovdqa64 %zmm6,0x388(%rsp)
     1a2:	vpermq %zmm0,%zmm1,%zmm6
     1a8:	vpbroadcastq %rax,%zmm1
     1ae:	mov    $0x5,%eax
     1b3:	vmovdqa64 %zmm7,0x488(%rsp)
     1be:	vpermq %zmm0,%zmm1,%zmm7
     1c4:	vpbroadcastq %rax,%zmm1
     1ca:	lea    -0xe443238(%r8),%eax
     1d1:	vmovdqa64 %zmm6,0x148(%rsp)
     1dc:	vpermq %zmm0,%zmm4,%zmm6
     1e2:	vbroadcastss 0x0(%rip),%zmm4        # 1ec <kelvin::avx512::normals(kelvin::Stream const&, unsigned long, float*, unsigned long)+0x1ec>
     1ec:	vmovdqa64 %zmm7,0x548(%rsp)
     1f7:	vpermq %zmm0,%zmm1,%zmm7
     1fd:	vmovdqa32 0x0(%rip),%zmm1        # 207 <kelvin::avx512::normals(kelvin::Stream const&, unsigned long, float*, unsigned long)+0x207>
     207:	vmovdqa64 %zmm6,0x348(%rsp)
     212:	vpermq %zmm0,%zmm3,%zmm6
     218:	vmovdqa64 %zmm7,0x508(%rsp)
     223:	vpermq %zmm0,%zmm2,%zmm7
     229:	vmovdqa32 0x0(%rip),%zmm0        # 233 <kelvin::avx512::normals(kelvin::Stream const&, unsigned long, float*, unsigned long)+0x233>
     233:	vmovdqa64 %zmm6,0x308(%rsp)
     23e:	vpbroadcastq %rax,%zmm6
     244:	lea    -0x24c28bd8(%rsi),%eax
     24a:	vmovdqa64 %zmm7,0x408(%rsp)
     255:	vpbroadcastq %rax,%zmm7
     25b:	lea    -0x700cb87f(%r8),%eax
     262:	xor    %r8d,%r8d
     265:	vmovdqa64 %zmm7,0x1c8(%rsp)
     270:	vpbroadcastq %rax,%zmm7
     276:	lea    -0x695add53(%rsi),%eax
     27c:	vmovdqa64 %zmm6,0x208(%rsp)
     287:	vpbroadcastq %rax,%zmm6
     28d:	mov    $0xffffffff,%eax
     292:	vpbroadcastq %rax,%zmm5
     298:	mov    $0x7fffffff,%eax
     29d:	vpbroadcastd %eax,%zmm2
     2a3:	mov    $0x1,%eax
     2a8:	vpbroadcastd %eax,%zmm8
     2ae:	mov    $0x3f800000,%eax
     2b3:	vmovdqa32 %zmm2,0x108(%rsp)
     2be:	vpbroadcastd %eax,%zmm2
     2c4:	mov    $0x4f000000,%eax
     2c9:	vmovdqa32 %zmm2,0x448(%rsp)
     2d4:	vpbroadcastd %eax,%zmm2
     2da:	vmovdqa32 %zmm2,0xc8(%rsp)
     2e5:	jmp    30d <kelvin::avx512::normals(kelvin::Stream const&, unsigned long, float*, unsigned long)+0x30d>
     2e7:	nopw   0x0(%rax,%rax,1)
     2f0:	test   $0x4,%al
     2f2:	jne    18cf <kelvin::avx512::normals(kelvin::Stream const&, unsigned long, float*, unsigned long)+0x18cf>
     2f8:	test   %eax,%eax
     2fa:	je     301 <kelvin::avx512::normals(kelvin::Stream const&, unsigned long, float*, unsigned long)+0x301>
     2fc:	movzbl (%rsi),%eax
     2ff:	mov    %al,(%rcx)
     301:	add    %rdx,%r8
     304:	cmp    %r11,%r8
     307:	jae    18c6 <kelvin::avx512::normals(kelvin::Stream const&, unsigned long, float*, unsigned long)+0x18c6>
     30d:	lea    (%r9,%r8,1),%rdx
     311:	mov    %r11,%rdi
     314:	lea    (%r10,%r8,4),%rcx
     318:	mov    %rdx,%rax
     31b:	sub    %r8,%rdi
     31e:	shr    $0x6,%rax
     322:	shl    $0x4,%eax
     325:	lea    0x1(%rax),%esi
     328:	vmovd  %eax,%xmm12
     32c:	vpbroadcastq %rsi,%zmm3
     332:	mov    %rdx,%rsi
     335:	vpbroadcastq %xmm12,%zmm12
     33b:	and    $0x3f,%esi
     33e:	jne    34a <kelvin::avx512::normals(kelvin::Stream const&, unsigned long, float*, unsigned long)+0x34a>
     340:	cmp    $0x7f,%rdi
     344:	ja     a8a <kelvin::avx512::normals(kelvin::Stream const&, unsigned long, float*, unsigned long)+0xa8a>
     34a:	vpaddq 0x0(%rip),%zmm3,%zmm10        # 354 <kelvin::avx512::normals(kelvin::Stream const&, unsigned long, float*, unsigned long)+0x354>
     354:	mov    $0x80000000,%eax
     359:	vpaddq 0x0(%rip),%zmm12,%zmm12        # 363 <kelvin::avx512::normals(kelvin::Stream const&, unsigned long, float*, unsigned long)+0x363>
     363:	mov    $0x40,%edx
     368:	vmovdqa64 0x288(%rsp),%zmm11
     373:	sub    %rsi,%rdx
     376:	vmovdqa64 0x4c8(%rsp),%zmm3
     381:	lea    0x5c8(%rsp,%rsi,4),%rsi
     389:	vpmuludq %zmm1,%zmm10,%zmm10
     38f:	cmp    %rdi,%rdx
     392:	vmovdqa64 0x2c8(%rsp),%zmm9
     39d:	vmovdqa64 0x3c8(%rsp),%zmm31
     3a8:	vpmuludq %zmm1,%zmm12,%zmm12
     3ae:	cmova  %rdi,%rdx
     3b2:	vmovdqa64 0x188(%rsp),%zmm23
     3bd:	vmovdqa64 0x588(%rsp),%zmm26
     3c8:	vmovdqa64 0x488(%rsp),%zmm28
     3d3:	vmovdqa64 0x388(%rsp),%zmm27
     3de:	vmovdqa64 0x148(%rsp),%zmm29
     3e9:	vmovdqa64 0x548(%rsp),%zmm30
     3f4:	vmovdqa64 0x508(%rsp),%zmm22
     3ff:	vmovdqa64 0x348(%rsp),%zmm25
     40a:	vpshufd $0xf5,%zmm10,%zmm2
     411:	vpxorq %zmm3,%zmm10,%zmm10
     417:	vmovdqa64 0x308(%rsp),%zmm24
     422:	vmovdqa64 0x408(%rsp),%zmm21
     42d:	vpshufd $0xf5,%zmm12,%zmm14
     434:	vpxorq %zmm11,%zmm2,%zmm2
     43a:	vpxorq %zmm3,%zmm12,%zmm12
     440:	vpmuludq %zmm0,%zmm2,%zmm2
     446:	vpmuludq %zmm0,%zmm10,%zmm10
     44c:	vpxorq %zmm11,%zmm14,%zmm14
     452:	vmovdqa64 0x248(%rsp),%zmm11
     45d:	vpmuludq %zmm0,%zmm14,%zmm14
     463:	vpmuludq %zmm0,%zmm12,%zmm12
     469:	vpshufd $0xf5,%zmm2,%zmm17
     470:	vpshufd $0xf5,%zmm10,%zmm3
     477:	vpshufd $0xf5,%zmm14,%zmm18
     47e:	vpxorq %zmm11,%zmm17,%zmm17
     484:	vpternlogq $0x96,%zmm2,%zmm31,%zmm3
     48b:	vpmuludq %zmm1,%zmm17,%zmm17
     491:	vpxorq %zmm11,%zmm18,%zmm18
     497:	vpshufd $0xf5,%zmm12,%zmm13
     49e:	vpmuludq %zmm1,%zmm18,%zmm18
     4a4:	vpmuludq %zmm1,%zmm3,%zmm3
     4aa:	vpternlogq $0x96,%zmm14,%zmm31,%zmm13
     4b1:	vmovdqa64 0x208(%rsp),%zmm31
     4bc:	vpmuludq %zmm1,%zmm13,%zmm13
     4c2:	vpshufd $0xf5,%zmm17,%zmm11
     4c9:	vpshufd $0xf5,%zmm18,%zmm15
     4d0:	vpxorq %zmm9,%zmm11,%zmm11
     4d6:	vpshufd $0xf5,%zmm3,%zmm16
     4dd:	vpmuludq %zmm0,%zmm11,%zmm11
     4e3:	vpxorq %zmm9,%zmm15,%zmm15
     4e9:	vpternlogq $0x96,%zmm17,%zmm26,%zmm16
     4f0:	vmovdqa32 0x448(%rsp),%zmm9
     4fb:	vpmuludq %zmm0,%zmm15,%zmm15
     501:	vpshufd $0xf5,%zmm13,%zmm19
     508:	vpmuludq %zmm0,%zmm16,%zmm16
     50e:	vpternlogq $0x96,%zmm18,%zmm26,%zmm19
     515:	vmovdqa32 0x108(%rsp),%zmm26
     520:	vpmuludq %zmm0,%zmm19,%zmm19
     526:	vpshufd $0xf5,%zmm11,%zmm2
     52d:	vpternlogq $0x96,%zmm10,%zmm23,%zmm2
     534:	vpshufd $0xf5,%zmm15,%zmm14
     53b:	vpmuludq %zmm1,%zmm2,%zmm2
     541:	vpternlogq $0x96,%zmm12,%zmm23,%zmm14
     548:	vpshufd $0xf5,%zmm16,%zmm10
     54f:	vmovdqa64 0x1c8(%rsp),%zmm23
     55a:	vpmuludq %zmm1,%zmm14,%zmm14
     560:	vpternlogq $0x96,%zmm11,%zmm27,%zmm10
     567:	vpshufd $0xf5,%zmm19,%zmm12
     56e:	vpmuludq %zmm1,%zmm10,%zmm10
     574:	vpternlogq $0x96,%zmm15,%zmm27,%zmm12
     57b:	vpmuludq %zmm1,%zmm12,%zmm12
     581:	vpshufd $0xf5,%zmm2,%zmm17
     588:	vpternlogq $0x96,%zmm3,%zmm28,%zmm17
     58f:	vpshufd $0xf5,%zmm14,%zmm18
     596:	vpmuludq %zmm0,%zmm17,%zmm17
     59c:	vpternlogq $0x96,%zmm13,%zmm28,%zmm18
     5a3:	vpshufd $0xf5,%zmm10,%zmm11
     5aa:	vpmuludq %zmm0,%zmm18,%zmm18
     5b0:	vpshufd $0xf5,%zmm12,%zmm15
     5b7:	vpternlogq $0x96,%zmm2,%zmm30,%zmm11
     5be:	vpmuludq %zmm0,%zmm11,%zmm11
     5c4:	vpternlogq $0x96,%zmm14,%zmm30,%zmm15
     5cb:	vpmuludq %zmm0,%zmm15,%zmm15
     5d1:	vpshufd $0xf5,%zmm17,%zmm3
     5d8:	vpshufd $0xf5,%zmm18,%zmm13
     5df:	vpternlogq $0x96,%zmm16,%zmm29,%zmm3
     5e6:	vpmuludq %zmm1,%zmm3,%zmm3
     5ec:	vpternlogq $0x96,%zmm19,%zmm29,%zmm13
     5f3:	vpshufd $0xf5,%zmm11,%zmm2
     5fa:	vpmuludq %zmm1,%zmm13,%zmm13
     600:	vpshufd $0xf5,%zmm15,%zmm14
     607:	vpternlogq $0x96,%zmm17,%zmm25,%zmm2
     60e:	vpmuludq %zmm1,%zmm2,%zmm2
     614:	vpternlogq $0x96,%zmm18,%zmm25,%zmm14
     61b:	vpmuludq %zmm1,%zmm14,%zmm14
     621:	vpshufd $0xf5,%zmm3,%zmm16
     628:	vpshufd $0xf5,%zmm13,%zmm19
     62f:	vpternlogq $0x96,%zmm10,%zmm22,%zmm16
     636:	vpmuludq %zmm0,%zmm16,%zmm16
     63c:	vpternlogq $0x96,%zmm12,%zmm22,%zmm19
     643:	vpshufd $0xf5,%zmm2,%zmm10
     64a:	vpmuludq %zmm0,%zmm19,%zmm19
     650:	vpternlogq $0x96,%zmm3,%zmm21,%zmm10
     657:	vpshufd $0xf5,%zmm14,%zmm12
     65e:	vpmuludq %zmm0,%zmm10,%zmm10
     664:	vpternlogq $0x96,%zmm13,%zmm21,%zmm12
     66b:	vpmuludq %zmm0,%zmm12,%zmm12
     671:	vpshufd $0xf5,%zmm16,%zmm17
     678:	vpshufd $0xf5,%zmm19,%zmm18
     67f:	vpternlogq $0x96,%zmm11,%zmm24,%zmm17
     686:	vpmuludq %zmm1,%zmm17,%zmm17
     68c:	vpternlogq $0x96,%zmm15,%zmm24,%zmm18
     693:	vpshufd $0xf5,%zmm10,%zmm11
     69a:	vpmuludq %zmm1,%zmm18,%zmm18
     6a0:	vpshufd $0xf5,%zmm12,%zmm13
     6a7:	vpternlogq $0x96,%zmm16,%zmm31,%zmm11
     6ae:	vpmuludq %zmm1,%zmm11,%zmm11
     6b4:	vpternlogq $0x96,%zmm19,%zmm31,%zmm13
     6bb:	vbroadcastss 0x0(%rip),%zmm19        # 6c5 <kelvin::avx512::normals(kelvin::Stream const&, unsigned long, float*, unsigned long)+0x6c5>
     6c5:	vpmuludq %zmm1,%zmm13,%zmm13
     6cb:	vpshufd $0xf5,%zmm17,%zmm3
     6d2:	vpshufd $0xf5,%zmm18,%zmm15
     6d9:	vpternlogq $0x96,%zmm2,%zmm23,%zmm3
     6e0:	vpmuludq %zmm0,%zmm3,%zmm3
     6e6:	vpternlogq $0x96,%zmm14,%zmm23,%zmm15
     6ed:	vpshufd $0xf5,%zmm11,%zmm16
     6f4:	vpmuludq %zmm0,%zmm15,%zmm15
     6fa:	vpsllq $0x20,%zmm11,%zmm11
     701:	vpshufd $0xf5,%zmm13,%zmm20
     708:	vpternlogq $0xf8,%zmm13,%zmm5,%zmm11
     70f:	vpternlogq $0x96,%zmm17,%zmm6,%zmm16
     716:	vpternlogq $0x96,%zmm18,%zmm6,%zmm20
     71d:	vpsllq $0x20,%zmm16,%zmm16
     724:	vpternlogq $0xf8,%zmm20,%zmm5,%zmm16
     72b:	vpshufd $0xf5,%zmm3,%zmm2
     732:	vpsllq $0x20,%zmm3,%zmm3
     739:	vpshufd $0xf5,%zmm15,%zmm14
     740:	vpternlogq $0x96,%zmm10,%zmm7,%zmm2
     747:	vpternlogq $0xf8,%zmm15,%zmm5,%zmm3
     74e:	vpternlogq $0x96,%zmm12,%zmm7,%zmm14
     755:	vpsllq $0x20,%zmm2,%zmm2
     75c:	vmovdqa32 %zmm8,%zmm10
     762:	vpternlogq $0xf8,%zmm14,%zmm5,%zmm2
     769:	vpslld $0x2,%zmm3,%zmm14
     770:	vcvtdq2ps %zmm14,%zmm14
     776:	vmulps %zmm4,%zmm14,%zmm14
     77c:	vpternlogd $0xf8,%zmm26,%zmm2,%zmm10
     783:	vcvtdq2ps %zmm10,%zmm2
     789:	vbroadcastss 0x0(%rip),%zmm10        # 793 <kelvin::avx512::normals(kelvin::Stream const&, unsigned long, float*, unsigned long)+0x793>
     793:	vandps 0x0(%rip),%zmm2,%zmm13        # 79d <kelvin::avx512::normals(kelvin::Stream const&, unsigned long, float*, unsigned long)+0x79d>
     79d:	vpord  %zmm9,%zmm13,%zmm13
     7a3:	vaddps 0x0(%rip),%zmm13,%zmm15        # 7ad <kelvin::avx512::normals(kelvin::Stream const&, unsigned long, float*, unsigned long)+0x7ad>
     7ad:	vmulps %zmm14,%zmm14,%zmm12
     7b3:	vfmadd213ps 0x0(%rip),%zmm12,%zmm19        # 7bd <kelvin::avx512::normals(kelvin::Stream const&, unsigned long, float*, unsigned long)+0x7bd>
     7bd:	vfmadd213ps 0x0(%rip),%zmm12,%zmm10        # 7c7 <kelvin::avx512::normals(kelvin::Stream const&, unsigned long, float*, unsigned long)+0x7c7>
     7c7:	vfmadd213ps 0x0(%rip),%zmm12,%zmm19        # 7d1 <kelvin::avx512::normals(kelvin::Stream const&, unsigned long, float*, unsigned long)+0x7d1>
     7d1:	vfmadd213ps 0x0(%rip),%zmm12,%zmm10        # 7db <kelvin::avx512::normals(kelvin::Stream const&, unsigned long, float*, unsigned long)+0x7db>
     7db:	vfmadd213ps 0x0(%rip),%zmm12,%zmm19        # 7e5 <kelvin::avx512::normals(kelvin::Stream const&, unsigned long, float*, unsigned long)+0x7e5>
     7e5:	vfmadd213ps 0x0(%rip),%zmm10,%zmm12        # 7ef <kelvin::avx512::normals(kelvin::Stream const&, unsigned long, float*, unsigned long)+0x7ef>
     7ef:	vbroadcastss 0x0(%rip),%zmm10        # 7f9 <kelvin::avx512::normals(kelvin::Stream const&, unsigned long, float*, unsigned long)+0x7f9>
     7f9:	vfmadd213ps 0x0(%rip),%zmm15,%zmm10        # 803 <kelvin::avx512::normals(kelvin::Stream const&, unsigned long, float*, unsigned long)+0x803>
     803:	vfmadd213ps 0x0(%rip),%zmm15,%zmm10        # 80d <kelvin::avx512::normals(kelvin::Stream const&, unsigned long, float*, unsigned long)+0x80d>
     80d:	vbroadcastss 0x0(%rip),%zmm28        # 817 <kelvin::avx512::normals(kelvin::Stream const&, unsigned long, float*, unsigned long)+0x817>
     817:	vfmadd213ps 0x0(%rip),%zmm15,%zmm10        # 821 <kelvin::avx512::normals(kelvin::Stream const&, unsigned long, float*, unsigned long)+0x821>
     821:	vmovdqa32 0xc8(%rsp),%zmm27
     82c:	vfmadd213ps 0x0(%rip),%zmm15,%zmm10        # 836 <kelvin::avx512::normals(kelvin::Stream const&, unsigned long, float*, unsigned long)+0x836>
     836:	vsubps %zmm13,%zmm28,%zmm13
     83c:	vbroadcastss 0x0(%rip),%zmm18        # 846 <kelvin::avx512::normals(kelvin::Stream const&, unsigned long, float*, unsigned long)+0x846>
     846:	vfmadd213ps 0x0(%rip),%zmm15,%zmm10        # 850 <kelvin::avx512::normals(kelvin::Stream const&, unsigned long, float*, unsigned long)+0x850>
     850:	vpsubd %zmm27,%zmm2,%zmm2
     856:	vfmadd213ps 0x0(%rip),%zmm15,%zmm10        # 860 <kelvin::avx512::normals(kelvin::Stream const&, unsigned long, float*, unsigned long)+0x860>
     860:	vcvtdq2ps %zmm2,%zmm2
     866:	vfmadd213ps 0x0(%rip),%zmm15,%zmm10        # 870 <kelvin::avx512::normals(kelvin::Stream const&, unsigned long, float*, unsigned long)+0x870>
     870:	vmulps %zmm15,%zmm13,%zmm13
     876:	vpxor  %xmm15,%xmm15,%xmm15
     87b:	vmulps %zmm19,%zmm14,%zmm21
     881:	vmulps %zmm10,%zmm13,%zmm13
     887:	vfmadd132ps 0x0(%rip),%zmm13,%zmm2        # 891 <kelvin::avx512::normals(kelvin::Stream const&, unsigned long, float*, unsigned long)+0x891>
     891:	vpbroadcastd %eax,%zmm13
     897:	mov    $0x40000000,%eax
     89c:	vpbroadcastd %eax,%zmm10
     8a2:	vpternlogd $0x78,%zmm13,%zmm3,%zmm12
     8a9:	lea    0x0(,%rdx,4),%rax
     8b1:	vpandd %zmm3,%zmm10,%zmm3
     8b7:	vpandd %zmm11,%zmm10,%zmm10
     8bd:	vpcmpneqd %zmm15,%zmm3,%k1
     8c4:	vmovaps %zmm12,%zmm3
     8ca:	vsqrtps %zmm2,%zmm2
     8d0:	vmulps %zmm19,%zmm14,%zmm3{%k1}
     8d6:	vpcmpneqd %zmm15,%zmm10,%k1
     8dd:	vmulps %zmm3,%zmm2,%zmm14
     8e3:	vpternlogd $0x96,%zmm12,%zmm21,%zmm3
     8ea:	vmulps %zmm3,%zmm2,%zmm2
     8f0:	vbroadcastss 0x0(%rip),%zmm3        # 8fa <kelvin::avx512::normals(kelvin::Stream const&, unsigned long, float*, unsigned long)+0x8fa>
     8fa:	vmovaps %zmm14,0x5c8(%rsp)
     905:	vmovaps %zmm2,0x608(%rsp)
     910:	vmovdqa32 %zmm8,%zmm2
     916:	vpternlogd $0xf8,%zmm26,%zmm16,%zmm2
     91d:	vpslld $0x2,%zmm11,%zmm16
     924:	vcvtdq2ps %zmm16,%zmm16
     92a:	vmulps %zmm4,%zmm16,%zmm16
     930:	vcvtdq2ps %zmm2,%zmm2
     936:	vandps 0x0(%rip),%zmm2,%zmm14        # 940 <kelvin::avx512::normals(kelvin::Stream const&, unsigned long, float*, unsigned long)+0x940>
     940:	vpsubd %zmm27,%zmm2,%zmm2
     946:	vpord  %zmm9,%zmm14,%zmm14
     94c:	vcvtdq2ps %zmm2,%zmm2
     952:	vaddps 0x0(%rip),%zmm14,%zmm17        # 95c <kelvin::avx512::normals(kelvin::Stream const&, unsigned long, float*, unsigned long)+0x95c>
     95c:	vsubps %zmm14,%zmm28,%zmm14
     962:	vmulps %zmm16,%zmm16,%zmm12
     968:	vfmadd213ps 0x0(%rip),%zmm12,%zmm18        # 972 <kelvin::avx512::normals(kelvin::Stream const&, unsigned long, float*, unsigned long)+0x972>
     972:	vfmadd213ps 0x0(%rip),%zmm12,%zmm3        # 97c <kelvin::avx512::normals(kelvin::Stream const&, unsigned long, float*, unsigned long)+0x97c>
     97c:	vfmadd213ps 0x0(%rip),%zmm12,%zmm18        # 986 <kelvin::avx512::normals(kelvin::Stream const&, unsigned long, float*, unsigned long)+0x986>
     986:	vfmadd213ps 0x0(%rip),%zmm12,%zmm3        # 990 <kelvin::avx512::normals(kelvin::Stream const&, unsigned long, float*, unsigned long)+0x990>
     990:	vfmadd213ps 0x0(%rip),%zmm12,%zmm18        # 99a <kelvin::avx512::normals(kelvin::Stream const&, unsigned long, float*, unsigned long)+0x99a>
     99a:	vfmadd213ps 0x0(%rip),%zmm3,%zmm12        # 9a4 <kelvin::avx512::normals(kelvin::Stream const&, unsigned long, float*, unsigned long)+0x9a4>
     9a4:	vbroadcastss 0x0(%rip),%zmm3        # 9ae <kelvin::avx512::normals(kelvin::Stream const&, unsigned long, float*, unsigned long)+0x9ae>
     9ae:	vmulps %zmm17,%zmm14,%zmm14
     9b4:	vfmadd213ps 0x0(%rip),%zmm17,%zmm3        # 9be <kelvin::avx512::normals(kelvin::Stream const&, unsigned long, float*, unsigned long)+0x9be>
     9be:	vfmadd213ps 0x0(%rip),%zmm17,%zmm3        # 9c8 <kelvin::avx512::normals(kelvin::Stream const&, unsigned long, float*, unsigned long)+0x9c8>
     9c8:	vfmadd213ps 0x0(%rip),%zmm17,%zmm3        # 9d2 <kelvin::avx512::normals(kelvin::Stream const&, unsigned long, float*, unsigned long)+0x9d2>
     9d2:	vfmadd213ps 0x0(%rip),%zmm17,%zmm3        # 9dc <kelvin::avx512::normals(kelvin::Stream const&, unsigned long, float*, unsigned long)+0x9dc>
     9dc:	vfmadd213ps 0x0(%rip),%zmm17,%zmm3        # 9e6 <kelvin::avx512::normals(kelvin::Stream const&, unsigned long, float*, unsigned long)+0x9e6>
     9e6:	vpternlogd $0x78,%zmm13,%zmm11,%zmm12
     9ed:	vfmadd213ps 0x0(%rip),%zmm17,%zmm3        # 9f7 <kelvin::avx512::normals(kelvin::Stream const&, unsigned long, float*, unsigned long)+0x9f7>
     9f7:	vfmadd213ps 0x0(%rip),%zmm17,%zmm3        # a01 <kelvin::avx512::normals(kelvin::Stream const&, unsigned long, float*, unsigned long)+0xa01>
     a01:	vmulps %zmm18,%zmm16,%zmm19
     a07:	vmulps %zmm3,%zmm14,%zmm14
     a0d:	vmovaps %zmm12,%zmm3
     a13:	vfmadd132ps 0x0(%rip),%zmm14,%zmm2        # a1d <kelvin::avx512::normals(kelvin::Stream const&, unsigned long, float*, unsigned long)+0xa1d>
     a1d:	vmulps %zmm18,%zmm16,%zmm3{%k1}
     a23:	vsqrtps %zmm2,%zmm2
     a29:	vmulps %zmm3,%zmm2,%zmm10
     a2f:	vpternlogd $0x96,%zmm12,%zmm19,%zmm3
     a36:	vmulps %zmm3,%zmm2,%zmm2
     a3c:	vmovaps %zmm10,0x648(%rsp)
     a47:	vmovaps %zmm2,0x688(%rsp)
     a52:	cmp    $0x8,%eax
     a55:	jb     2f0 <kelvin::avx512::normals(kelvin::Stream const&, unsigned long, float*, unsigned long)+0x2f0>
     a5b:	mov    (%rsi),%rdi
     a5e:	mov    %rdi,(%rcx)
     a61:	mov    %eax,%edi
     a63:	mov    -0x8(%rsi,%rdi,1),%rbx
     a68:	mov    %rbx,-0x8(%rcx,%rdi,1)
     a6d:	lea    0x8(%rcx),%rdi
     a71:	and    $0xfffffffffffffff8,%rdi
     a75:	sub    %rdi,%rcx
     a78:	add    %ecx,%eax
     a7a:	sub    %rcx,%rsi
     a7d:	shr    $0x3,%eax
     a80:	mov    %eax,%ecx
     a82:	rep movsq %ds:(%rsi),%es:(%rdi)
     a85:	jmp    301 <kelvin::avx512::normals(kelvin::Stream const&, unsigned long, float*, unsigned long)+0x301>
     a8a:	vmovdqu64 0x0(%rip),%zmm13        # a94 <kelvin::avx512::normals(kelvin::Stream const&, unsigned long, float*, unsigned long)+0xa94>
     a94:	lea    0x10(%rax),%edx
     a97:	add    $0x11,%eax
     a9a:	vmovdqa64 0x288(%rsp),%zmm9
     aa5:	vmovd  %edx,%xmm10
     aa9:	sub    $0xffffffffffffff80,%r8
     aad:	vmovdqa64 0x3c8(%rsp),%zmm17
     ab8:	vpaddq %zmm3,%zmm13,%zmm3
     abe:	vpaddq %zmm12,%zmm13,%zmm2
     ac4:	vpbroadcastq %xmm10,%zmm11
     aca:	vpmuludq %zmm1,%zmm3,%zmm3
     ad0:	vpmuludq %zmm1,%zmm2,%zmm2
     ad6:	vpaddq %zmm13,%zmm11,%zmm11
     adc:	vpmuludq %zmm1,%zmm11,%zmm11
     ae2:	vpbroadcastq %rax,%zmm10
     ae8:	mov    $0x80000000,%eax
     aed:	vpaddq %zmm13,%zmm10,%zmm10
     af3:	vpmuludq %zmm1,%zmm10,%zmm10
     af9:	vpshufd $0xf5,%zmm3,%zmm15
     b00:	vpshufd $0xf5,%zmm2,%zmm16
     b07:	vpxorq 0x4c8(%rsp),%zmm3,%zmm3
     b12:	vpxorq %zmm9,%zmm15,%zmm15
     b18:	vpxorq %zmm9,%zmm16,%zmm16
     b1e:	vpshufd $0xf5,%zmm11,%zmm14
     b25:	vpmuludq %zmm0,%zmm15,%zmm15
     b2b:	vpmuludq %zmm0,%zmm16,%zmm16
     b31:	vpxorq %zmm9,%zmm14,%zmm14
     b37:	vpmuludq %zmm0,%zmm14,%zmm14
     b3d:	vpshufd $0xf5,%zmm10,%zmm13
     b44:	vpxorq 0x4c8(%rsp),%zmm2,%zmm2
     b4f:	vpxorq %zmm9,%zmm13,%zmm13
     b55:	vpmuludq %zmm0,%zmm3,%zmm3
     b5b:	vmovdqa64 0x248(%rsp),%zmm9
     b66:	vpxorq 0x4c8(%rsp),%zmm11,%zmm11
     b71:	vpmuludq %zmm0,%zmm13,%zmm13
     b77:	vpmuludq %zmm0,%zmm2,%zmm2
     b7d:	vpxorq 0x4c8(%rsp),%zmm10,%zmm10
     b88:	vpmuludq %zmm0,%zmm11,%zmm11
     b8e:	vpshufd $0xf5,%zmm15,%zmm30
     b95:	vpshufd $0xf5,%zmm16,%zmm12
     b9c:	vpxorq %zmm9,%zmm30,%zmm30
     ba2:	vpmuludq %zmm0,%zmm10,%zmm10
     ba8:	vpxorq %zmm9,%zmm12,%zmm12
     bae:	vpmuludq %zmm1,%zmm30,%zmm30
     bb4:	vpmuludq %zmm1,%zmm12,%zmm12
     bba:	vpshufd $0xf5,%zmm14,%zmm29
     bc1:	vpxorq %zmm9,%zmm29,%zmm29
     bc7:	vpshufd $0xf5,%zmm13,%zmm28
     bce:	vpshufd $0xf5,%zmm3,%zmm24
     bd5:	vpmuludq %zmm1,%zmm29,%zmm29
     bdb:	vpxorq %zmm9,%zmm28,%zmm28
     be1:	vmovdqa64 0x2c8(%rsp),%zmm9
     bec:	vpternlogq $0x96,%zmm15,%zmm17,%zmm24
     bf3:	vpmuludq %zmm1,%zmm28,%zmm28
     bf9:	vpshufd $0xf5,%zmm2,%zmm26
     c00:	vpshufd $0xf5,%zmm11,%zmm22
     c07:	vpmuludq %zmm1,%zmm24,%zmm24
     c0d:	vpternlogq $0x96,%zmm16,%zmm17,%zmm26
     c14:	vmovdqa64 %zmm17,%zmm16
     c1a:	vpshufd $0xf5,%zmm30,%zmm25
     c21:	vpshufd $0xf5,%zmm12,%zmm27
     c28:	vpternlogq $0x96,%zmm14,%zmm16,%zmm22
     c2f:	vmovdqa64 0x3c8(%rsp),%zmm14
     c3a:	vpxorq %zmm9,%zmm25,%zmm25
     c40:	vpxorq %zmm9,%zmm27,%zmm27
     c46:	vpshufd $0xf5,%zmm10,%zmm20
     c4d:	vpmuludq %zmm0,%zmm25,%zmm25
     c53:	vpmuludq %zmm0,%zmm27,%zmm27
     c59:	vpshufd $0xf5,%zmm29,%zmm23
     c60:	vpxorq %zmm9,%zmm23,%zmm23
     c66:	vpmuludq %zmm1,%zmm26,%zmm26
     c6c:	vpshufd $0xf5,%zmm28,%zmm21
     c73:	vpmuludq %zmm0,%zmm23,%zmm23
     c79:	vpxorq %zmm9,%zmm21,%zmm21
     c7f:	vmovdqa64 0x188(%rsp),%zmm9
     c8a:	vpternlogq $0x96,%zmm13,%zmm14,%zmm20
     c91:	vpmuludq %zmm1,%zmm22,%zmm22
     c97:	vpmuludq %zmm0,%zmm21,%zmm21
     c9d:	vpshufd $0xf5,%zmm24,%zmm18
     ca4:	vpmuludq %zmm1,%zmm20,%zmm20
     caa:	vpshufd $0xf5,%zmm25,%zmm17
     cb1:	vpshufd $0xf5,%zmm27,%zmm19
     cb8:	vpternlogq $0x96,%zmm3,%zmm9,%zmm17
     cbf:	vpternlogq $0x96,%zmm2,%zmm9,%zmm19
     cc6:	vmovdqa64 0x588(%rsp),%zmm3
     cd1:	vmovdqa64 0x588(%rsp),%zmm2
     cdc:	vpshufd $0xf5,%zmm26,%zmm31
     ce3:	vpshufd $0xf5,%zmm23,%zmm15
     cea:	vpternlogq $0x96,%zmm30,%zmm3,%zmm18
     cf1:	vpternlogq $0x96,%zmm12,%zmm2,%zmm31
     cf8:	vpternlogq $0x96,%zmm11,%zmm9,%zmm15
     cff:	vmovdqa64 0x588(%rsp),%zmm11
     d0a:	vpmuludq %zmm0,%zmm18,%zmm18
     d10:	vpmuludq %zmm0,%zmm31,%zmm31
     d16:	vpshufd $0xf5,%zmm22,%zmm16
     d1d:	vpshufd $0xf5,%zmm21,%zmm13
     d24:	vpmuludq %zmm1,%zmm17,%zmm17
     d2a:	vpternlogq $0x96,%zmm29,%zmm11,%zmm16
     d31:	vpternlogq $0x96,%zmm10,%zmm9,%zmm13
     d38:	vpmuludq %zmm1,%zmm19,%zmm19
     d3e:	vmovdqa64 0x588(%rsp),%zmm9
     d49:	vpshufd $0xf5,%zmm20,%zmm14
     d50:	vpmuludq %zmm0,%zmm16,%zmm16
     d56:	vpmuludq %zmm1,%zmm15,%zmm15
     d5c:	vpternlogq $0x96,%zmm28,%zmm9,%zmm14
     d63:	vpmuludq %zmm1,%zmm13,%zmm13
     d69:	vmovdqa64 0x388(%rsp),%zmm9
     d74:	vpmuludq %zmm0,%zmm14,%zmm14
     d7a:	vpshufd $0xf5,%zmm18,%zmm3
     d81:	vpshufd $0xf5,%zmm31,%zmm2
     d88:	vpternlogq $0x96,%zmm25,%zmm9,%zmm3
     d8f:	vpternlogq $0x96,%zmm27,%zmm9,%zmm2
     d96:	vmovdqa64 0x488(%rsp),%zmm25
     da1:	vmovdqa64 0x488(%rsp),%zmm27
     dac:	vpshufd $0xf5,%zmm17,%zmm30
     db3:	vpshufd $0xf5,%zmm19,%zmm12
     dba:	vpternlogq $0x96,%zmm24,%zmm25,%zmm30
     dc1:	vpshufd $0xf5,%zmm16,%zmm11
     dc8:	vpternlogq $0x96,%zmm26,%zmm27,%zmm12
     dcf:	vpmuludq %zmm0,%zmm30,%zmm30
     dd5:	vpternlogq $0x96,%zmm23,%zmm9,%zmm11
     ddc:	vmovdqa64 0x488(%rsp),%zmm23
     de7:	vpshufd $0xf5,%zmm15,%zmm29
     dee:	vpmuludq %zmm0,%zmm12,%zmm12
     df4:	vpshufd $0xf5,%zmm14,%zmm10
     dfb:	vpshufd $0xf5,%zmm13,%zmm28
     e02:	vpmuludq %zmm1,%zmm3,%zmm3
     e08:	vpternlogq $0x96,%zmm22,%zmm23,%zmm29
     e0f:	vpternlogq $0x96,%zmm21,%zmm9,%zmm10
     e16:	vmovdqa64 0x488(%rsp),%zmm9
     e21:	vpmuludq %zmm1,%zmm2,%zmm2
     e27:	vpmuludq %zmm0,%zmm29,%zmm29
     e2d:	vpternlogq $0x96,%zmm20,%zmm9,%zmm28
     e34:	vpmuludq %zmm1,%zmm11,%zmm11
     e3a:	vmovdqa64 0x148(%rsp),%zmm9
     e45:	vpmuludq %zmm0,%zmm28,%zmm28
     e4b:	vpshufd $0xf5,%zmm30,%zmm24
     e52:	vpternlogq $0x96,%zmm18,%zmm9,%zmm24
     e59:	vpshufd $0xf5,%zmm12,%zmm26
     e60:	vmovdqa64 0x548(%rsp),%zmm18
     e6b:	vpmuludq %zmm1,%zmm10,%zmm10
     e71:	vpternlogq $0x96,%zmm31,%zmm9,%zmm26
     e78:	vpshufd $0xf5,%zmm3,%zmm25
     e7f:	vmovdqa64 0x548(%rsp),%zmm31
     e8a:	vpternlogq $0x96,%zmm17,%zmm18,%zmm25
     e91:	vpshufd $0xf5,%zmm2,%zmm27
     e98:	vpshufd $0xf5,%zmm29,%zmm22
     e9f:	vpmuludq %zmm0,%zmm25,%zmm25
     ea5:	vpternlogq $0x96,%zmm19,%zmm31,%zmm27
     eac:	vpternlogq $0x96,%zmm16,%zmm9,%zmm22
     eb3:	vmovdqa64 0x548(%rsp),%zmm16
     ebe:	vpmuludq %zmm0,%zmm27,%zmm27
     ec4:	vpshufd $0xf5,%zmm11,%zmm23
     ecb:	vpshufd $0xf5,%zmm28,%zmm20
     ed2:	vpmuludq %zmm1,%zmm24,%zmm24
     ed8:	vpternlogq $0x96,%zmm15,%zmm16,%zmm23
     edf:	vpternlogq $0x96,%zmm14,%zmm9,%zmm20
     ee6:	vmovdqa64 0x548(%rsp),%zmm9
     ef1:	vpmuludq %zmm1,%zmm26,%zmm26
     ef7:	vpmuludq %zmm0,%zmm23,%zmm23
     efd:	vpshufd $0xf5,%zmm10,%zmm21
     f04:	vpternlogq $0x96,%zmm13,%zmm9,%zmm21
     f0b:	vpmuludq %zmm1,%zmm22,%zmm22
     f11:	vmovdqa64 0x348(%rsp),%zmm9
     f1c:	vpmuludq %zmm0,%zmm21,%zmm21
     f22:	vpshufd $0xf5,%zmm25,%zmm17
     f29:	vpternlogq $0x96,%zmm30,%zmm9,%zmm17
     f30:	vpshufd $0xf5,%zmm27,%zmm19
     f37:	vmovdqa64 0x508(%rsp),%zmm30
     f42:	vpmuludq %zmm1,%zmm20,%zmm20
     f48:	vpternlogq $0x96,%zmm12,%zmm9,%zmm19
     f4f:	vpshufd $0xf5,%zmm24,%zmm18
     f56:	vmovdqa64 0x508(%rsp),%zmm12
     f61:	vpternlogq $0x96,%zmm3,%zmm30,%zmm18
     f68:	vpshufd $0xf5,%zmm26,%zmm31
     f6f:	vpshufd $0xf5,%zmm23,%zmm15
     f76:	vpmuludq %zmm0,%zmm18,%zmm18
     f7c:	vpternlogq $0x96,%zmm2,%zmm12,%zmm31
     f83:	vpternlogq $0x96,%zmm29,%zmm9,%zmm15
     f8a:	vmovdqa64 0x508(%rsp),%zmm29
     f95:	vpmuludq %zmm0,%zmm31,%zmm31
     f9b:	vpshufd $0xf5,%zmm22,%zmm16
     fa2:	vpshufd $0xf5,%zmm21,%zmm13
     fa9:	vpternlogq $0x96,%zmm11,%zmm29,%zmm16
     fb0:	vpternlogq $0x96,%zmm28,%zmm9,%zmm13
     fb7:	vmovdqa64 0x508(%rsp),%zmm9
     fc2:	vpmuludq %zmm0,%zmm16,%zmm16
     fc8:	vpshufd $0xf5,%zmm20,%zmm14
     fcf:	vpternlogq $0x96,%zmm10,%zmm9,%zmm14
     fd6:	vpmuludq %zmm1,%zmm15,%zmm15
     fdc:	vmovdqa64 0x308(%rsp),%zmm9
     fe7:	vpmuludq %zmm1,%zmm13,%zmm13
     fed:	vpshufd $0xf5,%zmm18,%zmm3
     ff4:	vpmuludq %zmm1,%zmm17,%zmm17
     ffa:	vpmuludq %zmm0,%zmm14,%zmm14
    1000:	vpternlogq $0x96,%zmm25,%zmm9,%zmm3
    1007:	vpshufd $0xf5,%zmm31,%zmm2
    100e:	vpmuludq %zmm1,%zmm19,%zmm19
    1014:	vpmuludq %zmm1,%zmm3,%zmm3
    101a:	vpternlogq $0x96,%zmm27,%zmm9,%zmm2
    1021:	vpshufd $0xf5,%zmm16,%zmm29
    1028:	vmovdqa64 0x408(%rsp),%zmm27
    1033:	vpmuludq %zmm1,%zmm2,%zmm2
    1039:	vpternlogq $0x96,%zmm23,%zmm9,%zmm29
    1040:	vmovdqa64 0x408(%rsp),%zmm25
    104b:	vmovdqa64 0x408(%rsp),%zmm23
    1056:	vpshufd $0xf5,%zmm15,%zmm11
    105d:	vpshufd $0xf5,%zmm13,%zmm10
    1064:	vpternlogq $0x96,%zmm20,%zmm23,%zmm10
    106b:	vpternlogq $0x96,%zmm22,%zmm23,%zmm11
    1072:	vpshufd $0xf5,%zmm17,%zmm30
    1079:	vmovdqa64 0x1c8(%rsp),%zmm23
    1084:	vpshufd $0xf5,%zmm14,%zmm28
    108b:	vpternlogq $0x96,%zmm24,%zmm25,%zmm30
    1092:	vpshufd $0xf5,%zmm19,%zmm12
    1099:	vpternlogq $0x96,%zmm21,%zmm9,%zmm28
    10a0:	vpshufd $0xf5,%zmm3,%zmm24
    10a7:	vpternlogq $0x96,%zmm26,%zmm27,%zmm12
    10ae:	vpmuludq %zmm0,%zmm10,%zmm9
    10b4:	vpmuludq %zmm0,%zmm30,%zmm30
    10ba:	vpternlogq $0x96,%zmm17,%zmm23,%zmm24
    10c1:	vpshufd $0xf5,%zmm2,%zmm27
    10c8:	vpmuludq %zmm0,%zmm24,%zmm24
    10ce:	vpternlogq $0x96,%zmm19,%zmm23,%zmm27
    10d5:	vpmuludq %zmm1,%zmm28,%zmm28
    10db:	vpmuludq %zmm0,%zmm27,%zmm27
    10e1:	vpmuludq %zmm1,%zmm29,%zmm29
    10e7:	vpmuludq %zmm0,%zmm11,%zmm11
    10ed:	vpmuludq %zmm0,%zmm12,%zmm12
    10f3:	vmovdqa64 %zmm9,0x48(%rsp)
    10fe:	vpshufd $0xf5,%zmm30,%zmm25
    1105:	vmovdqa64 0x208(%rsp),%zmm9
    1110:	vpshufd $0xf5,0x48(%rsp),%zmm10
    111c:	vpternlogq $0x96,%zmm18,%zmm9,%zmm25
    1123:	vpshufd $0xf5,%zmm24,%zmm18
    112a:	vpternlogq $0x96,%zmm14,%zmm9,%zmm10
    1131:	vpsllq $0x20,%zmm24,%zmm24
    1138:	vpshufd $0xf5,%zmm28,%zmm20
    113f:	vpshufd $0xf5,%zmm29,%zmm22
    1146:	vpternlogq $0xf8,%zmm27,%zmm5,%zmm24
    114d:	vpternlogq $0x96,%zmm13,%zmm23,%zmm20
    1154:	vmovdqa64 %zmm11,0x88(%rsp)
    115f:	vpshufd $0xf5,0x88(%rsp),%zmm11
    116b:	vpmuludq %zmm1,%zmm10,%zmm10
    1171:	vpternlogq $0x96,%zmm16,%zmm9,%zmm11
    1178:	vpternlogq $0x96,%zmm15,%zmm23,%zmm22
    117f:	vpslld $0x2,%zmm24,%zmm13
    1186:	vpmuludq %zmm1,%zmm11,%zmm11
    118c:	vpshufd $0xf5,%zmm12,%zmm26
    1193:	vpmuludq %zmm0,%zmm20,%zmm20
    1199:	vcvtdq2ps %zmm13,%zmm13
    119f:	vpmuludq %zmm0,%zmm22,%zmm22
    11a5:	vpternlogq $0x96,%zmm30,%zmm7,%zmm18
    11ac:	vmulps %zmm4,%zmm13,%zmm13
    11b2:	vpshufd $0xf5,%zmm27,%zmm21
    11b9:	vpternlogq $0x96,%zmm31,%zmm9,%zmm26
    11c0:	vmovdqa32 0x108(%rsp),%zmm9
    11cb:	vpternlogq $0x96,%zmm12,%zmm7,%zmm21
    11d2:	vpsllq $0x20,%zmm18,%zmm18
    11d9:	vbroadcastss 0x0(%rip),%zmm4        # 11e3 <kelvin::avx512::normals(kelvin::Stream const&, unsigned long, float*, unsigned long)+0x11e3>
    11e3:	vmovdqa32 0xc8(%rsp),%zmm30
    11ee:	vpshufd $0xf5,%zmm10,%zmm23
    11f5:	vpsllq $0x20,%zmm10,%zmm10
    11fc:	vpternlogq $0xf8,%zmm21,%zmm5,%zmm18
    1203:	vpshufd $0xf5,%zmm11,%zmm15
    120a:	vpternlogq $0xf8,%zmm11,%zmm5,%zmm10
    1211:	vmovdqa32 %zmm23,-0x78(%rsp)
    121c:	vpshufd $0xf5,%zmm20,%zmm14
    1223:	vpsllq $0x20,%zmm20,%zmm20
    122a:	vpshufd $0xf5,%zmm22,%zmm31
    1231:	vmovdqa32 %zmm15,0x8(%rsp)
    123c:	vmulps %zmm13,%zmm13,%zmm11
    1242:	vpternlogq $0xf8,%zmm22,%zmm5,%zmm20
    1249:	vbroadcastss 0x0(%rip),%zmm15        # 1253 <kelvin::avx512::normals(kelvin::Stream const&, unsigned long, float*, unsigned long)+0x1253>
    1253:	vmovdqa64 %zmm10,%zmm22
    1259:	vfmadd213ps 0x0(%rip),%zmm11,%zmm15        # 1263 <kelvin::avx512::normals(kelvin::Stream const&, unsigned long, float*, unsigned long)+0x1263>
    1263:	vmovdqa32 %zmm8,%zmm10
    1269:	vmovdqa32 %zmm14,-0x38(%rsp)
    1274:	vfmadd213ps 0x0(%rip),%zmm11,%zmm4        # 127e <kelvin::avx512::normals(kelvin::Stream const&, unsigned long, float*, unsigned long)+0x127e>
    127e:	vpternlogd $0xf8,%zmm9,%zmm18,%zmm10
    1285:	vpbroadcastd %eax,%zmm18
    128b:	mov    $0x40000000,%eax
    1290:	vfmadd213ps 0x0(%rip),%zmm11,%zmm15        # 129a <kelvin::avx512::normals(kelvin::Stream const&, unsigned long, float*, unsigned long)+0x129a>
    129a:	vpmuludq %zmm1,%zmm25,%zmm25
    12a0:	vcvtdq2ps %zmm10,%zmm10
    12a6:	vandps 0x0(%rip),%zmm10,%zmm12        # 12b0 <kelvin::avx512::normals(kelvin::Stream const&, unsigned long, float*, unsigned long)+0x12b0>
    12b0:	vfmadd213ps 0x0(%rip),%zmm11,%zmm4        # 12ba <kelvin::avx512::normals(kelvin::Stream const&, unsigned long, float*, unsigned long)+0x12ba>
    12ba:	vpmuludq %zmm1,%zmm26,%zmm26
    12c0:	vpord  0x448(%rsp),%zmm12,%zmm12
    12cb:	vfmadd213ps 0x0(%rip),%zmm11,%zmm15        # 12d5 <kelvin::avx512::normals(kelvin::Stream const&, unsigned long, float*, unsigned long)+0x12d5>
    12d5:	vpsubd %zmm30,%zmm10,%zmm10
    12db:	vaddps 0x0(%rip),%zmm12,%zmm14        # 12e5 <kelvin::avx512::normals(kelvin::Stream const&, unsigned long, float*, unsigned long)+0x12e5>
    12e5:	vfmadd213ps 0x0(%rip),%zmm4,%zmm11        # 12ef <kelvin::avx512::normals(kelvin::Stream const&, unsigned long, float*, unsigned long)+0x12ef>
    12ef:	vcvtdq2ps %zmm10,%zmm10
    12f5:	vbroadcastss 0x0(%rip),%zmm4        # 12ff <kelvin::avx512::normals(kelvin::Stream const&, unsigned long, float*, unsigned long)+0x12ff>
    12ff:	vfmadd213ps 0x0(%rip),%zmm14,%zmm4        # 1309 <kelvin::avx512::normals(kelvin::Stream const&, unsigned long, float*, unsigned long)+0x1309>
    1309:	vfmadd213ps 0x0(%rip),%zmm14,%zmm4        # 1313 <kelvin::avx512::normals(kelvin::Stream const&, unsigned long, float*, unsigned long)+0x1313>
    1313:	vpshufd $0xf5,%zmm25,%zmm17
    131a:	vfmadd213ps 0x0(%rip),%zmm14,%zmm4        # 1324 <kelvin::avx512::normals(kelvin::Stream const&, unsigned long, float*, unsigned long)+0x1324>
    1324:	vpsllq $0x20,%zmm25,%zmm25
    132b:	vpternlogq $0x96,%zmm3,%zmm6,%zmm17
    1332:	vfmadd213ps 0x0(%rip),%zmm14,%zmm4        # 133c <kelvin::avx512::normals(kelvin::Stream const&, unsigned long, float*, unsigned long)+0x133c>
    133c:	vpternlogq $0xf8,%zmm26,%zmm5,%zmm25
    1343:	vpshufd $0xf5,%zmm26,%zmm19
    134a:	vfmadd213ps 0x0(%rip),%zmm14,%zmm4        # 1354 <kelvin::avx512::normals(kelvin::Stream const&, unsigned long, float*, unsigned long)+0x1354>
    1354:	vmovdqa64 %zmm25,%zmm23
    135a:	vpternlogd $0x78,%zmm18,%zmm24,%zmm11
    1361:	vfmadd213ps 0x0(%rip),%zmm14,%zmm4        # 136b <kelvin::avx512::normals(kelvin::Stream const&, unsigned long, float*, unsigned long)+0x136b>
    136b:	vpternlogq $0x96,%zmm2,%zmm6,%zmm19
    1372:	vmovdqa32 %zmm8,%zmm2
    1378:	vmulps %zmm15,%zmm13,%zmm16
    137e:	vpsllq $0x20,%zmm17,%zmm17
    1385:	vfmadd213ps 0x0(%rip),%zmm14,%zmm4        # 138f <kelvin::avx512::normals(kelvin::Stream const&, unsigned long, float*, unsigned long)+0x138f>
    138f:	vpternlogq $0xf8,%zmm19,%zmm5,%zmm17
    1396:	vbroadcastss 0x0(%rip),%zmm25        # 13a0 <kelvin::avx512::normals(kelvin::Stream const&, unsigned long, float*, unsigned long)+0x13a0>
    13a0:	vbroadcastss 0x0(%rip),%zmm3        # 13aa <kelvin::avx512::normals(kelvin::Stream const&, unsigned long, float*, unsigned long)+0x13aa>
    13aa:	vpternlogd $0xf8,%zmm9,%zmm17,%zmm2
    13b1:	vsubps %zmm12,%zmm25,%zmm12
    13b7:	vcvtdq2ps %zmm2,%zmm2
    13bd:	vmulps %zmm14,%zmm12,%zmm12
    13c3:	vpxor  %xmm14,%xmm14,%xmm14
    13c8:	vmulps %zmm4,%zmm12,%zmm12
    13ce:	vmovaps %zmm11,%zmm4
    13d4:	vfmadd132ps 0x0(%rip),%zmm12,%zmm10        # 13de <kelvin::avx512::normals(kelvin::Stream const&, unsigned long, float*, unsigned long)+0x13de>
    13de:	vpbroadcastd %eax,%zmm12
    13e4:	vpandd %zmm24,%zmm12,%zmm24
    13ea:	vpcmpneqd %zmm14,%zmm24,%k1
    13f1:	vbroadcastss 0x0(%rip),%zmm24        # 13fb <kelvin::avx512::normals(kelvin::Stream const&, unsigned long, float*, unsigned long)+0x13fb>
    13fb:	vmulps %zmm15,%zmm13,%zmm4{%k1}
    1401:	vsqrtps %zmm10,%zmm10
    1407:	vmulps %zmm4,%zmm10,%zmm13
    140d:	vpternlogd $0x96,%zmm11,%zmm16,%zmm4
    1414:	vandps 0x0(%rip),%zmm2,%zmm11        # 141e <kelvin::avx512::normals(kelvin::Stream const&, unsigned long, float*, unsigned long)+0x141e>
    141e:	vbroadcastss 0x0(%rip),%zmm16        # 1428 <kelvin::avx512::normals(kelvin::Stream const&, unsigned long, float*, unsigned long)+0x1428>
    1428:	vmulps %zmm4,%zmm10,%zmm10
    142e:	vpsubd %zmm30,%zmm2,%zmm2
    1434:	vbroadcastss 0x0(%rip),%zmm4        # 143e <kelvin::avx512::normals(kelvin::Stream const&, unsigned long, float*, unsigned long)+0x143e>
    143e:	vpord  0x448(%rsp),%zmm11,%zmm11
    1449:	vaddps 0x0(%rip),%zmm11,%zmm15        # 1453 <kelvin::avx512::normals(kelvin::Stream const&, unsigned long, float*, unsigned long)+0x1453>
    1453:	vcvtdq2ps %zmm2,%zmm2
    1459:	vfmadd213ps 0x0(%rip),%zmm15,%zmm24        # 1463 <kelvin::avx512::normals(kelvin::Stream const&, unsigned long, float*, unsigned long)+0x1463>
    1463:	vsubps %zmm11,%zmm25,%zmm11
    1469:	vmovups %zmm13,(%rcx)
    146f:	vpslld $0x2,%zmm23,%zmm13
    1476:	vcvtdq2ps %zmm13,%zmm13
    147c:	vmulps %zmm4,%zmm13,%zmm13
    1482:	vmovups %zmm10,0x40(%rcx)
    1489:	vmulps %zmm15,%zmm11,%zmm11
    148f:	vmulps %zmm13,%zmm13,%zmm10
    1495:	vfmadd213ps 0x0(%rip),%zmm10,%zmm16        # 149f <kelvin::avx512::normals(kelvin::Stream const&, unsigned long, float*, unsigned long)+0x149f>
    149f:	vfmadd213ps 0x0(%rip),%zmm10,%zmm3        # 14a9 <kelvin::avx512::normals(kelvin::Stream const&, unsigned long, float*, unsigned long)+0x14a9>
    14a9:	vfmadd213ps 0x0(%rip),%zmm10,%zmm16        # 14b3 <kelvin::avx512::normals(kelvin::Stream const&, unsigned long, float*, unsigned long)+0x14b3>
    14b3:	vfmadd213ps 0x0(%rip),%zmm10,%zmm3        # 14bd <kelvin::avx512::normals(kelvin::Stream const&, unsigned long, float*, unsigned long)+0x14bd>
    14bd:	vfmadd213ps 0x0(%rip),%zmm10,%zmm16        # 14c7 <kelvin::avx512::normals(kelvin::Stream const&, unsigned long, float*, unsigned long)+0x14c7>
    14c7:	vfmadd213ps 0x0(%rip),%zmm3,%zmm10        # 14d1 <kelvin::avx512::normals(kelvin::Stream const&, unsigned long, float*, unsigned long)+0x14d1>
    14d1:	vmovaps %zmm24,%zmm3
    14d7:	vfmadd213ps 0x0(%rip),%zmm15,%zmm3        # 14e1 <kelvin::avx512::normals(kelvin::Stream const&, unsigned long, float*, unsigned long)+0x14e1>
    14e1:	vmovaps %zmm25,%zmm24
    14e7:	vfmadd213ps 0x0(%rip),%zmm15,%zmm3        # 14f1 <kelvin::avx512::normals(kelvin::Stream const&, unsigned long, float*, unsigned long)+0x14f1>
    14f1:	vfmadd213ps 0x0(%rip),%zmm15,%zmm3        # 14fb <kelvin::avx512::normals(kelvin::Stream const&, unsigned long, float*, unsigned long)+0x14fb>
    14fb:	vfmadd213ps 0x0(%rip),%zmm15,%zmm3        # 1505 <kelvin::avx512::normals(kelvin::Stream const&, unsigned long, float*, unsigned long)+0x1505>
    1505:	vfmadd213ps 0x0(%rip),%zmm15,%zmm3        # 150f <kelvin::avx512::normals(kelvin::Stream const&, unsigned long, float*, unsigned long)+0x150f>
    150f:	vpternlogd $0x78,%zmm18,%zmm23,%zmm10
    1516:	vfmadd213ps 0x0(%rip),%zmm15,%zmm3        # 1520 <kelvin::avx512::normals(kelvin::Stream const&, unsigned long, float*, unsigned long)+0x1520>
    1520:	vmovaps %zmm10,%zmm15
    1526:	vmulps %zmm16,%zmm13,%zmm17
    152c:	vmulps %zmm3,%zmm11,%zmm11
    1532:	vpandd %zmm23,%zmm12,%zmm3
    1538:	vpcmpneqd %zmm14,%zmm3,%k1
    153f:	vfmadd132ps 0x0(%rip),%zmm11,%zmm2        # 1549 <kelvin::avx512::normals(kelvin::Stream const&, unsigned long, float*, unsigned long)+0x1549>
    1549:	vmulps %zmm16,%zmm13,%zmm15{%k1}
    154f:	vpslld $0x2,%zmm20,%zmm13
    1556:	vbroadcastss 0x0(%rip),%zmm16        # 1560 <kelvin::avx512::normals(kelvin::Stream const&, unsigned long, float*, unsigned long)+0x1560>
    1560:	vcvtdq2ps %zmm13,%zmm13
    1566:	vmulps %zmm4,%zmm13,%zmm13
    156c:	vsqrtps %zmm2,%zmm2
    1572:	vmulps %zmm15,%zmm2,%zmm11
    1578:	vmovaps %zmm15,%zmm3
    157e:	vmovdqa64 -0x38(%rsp),%zmm15
    1589:	vpternlogd $0x96,%zmm10,%zmm17,%zmm3
    1590:	vmulps %zmm3,%zmm2,%zmm2
    1596:	vpternlogq $0x96,0x48(%rsp),%zmm7,%zmm15
    15a2:	vmulps %zmm13,%zmm13,%zmm10
    15a8:	vpsllq $0x20,%zmm15,%zmm3
    15af:	vfmadd213ps 0x0(%rip),%zmm10,%zmm16        # 15b9 <kelvin::avx512::normals(kelvin::Stream const&, unsigned long, float*, unsigned long)+0x15b9>
    15b9:	vmovups %zmm11,0x80(%rcx)
    15c0:	vmovups %zmm2,0xc0(%rcx)
    15c7:	vmovdqa64 %zmm31,%zmm2
    15cd:	vpternlogq $0x96,0x88(%rsp),%zmm7,%zmm2
    15d9:	vfmadd213ps 0x0(%rip),%zmm10,%zmm16        # 15e3 <kelvin::avx512::normals(kelvin::Stream const&, unsigned long, float*, unsigned long)+0x15e3>
    15e3:	vbroadcastss 0x0(%rip),%zmm15        # 15ed <kelvin::avx512::normals(kelvin::Stream const&, unsigned long, float*, unsigned long)+0x15ed>
    15ed:	vfmadd213ps 0x0(%rip),%zmm10,%zmm15        # 15f7 <kelvin::avx512::normals(kelvin::Stream const&, unsigned long, float*, unsigned long)+0x15f7>
    15f7:	vpternlogq $0xf8,%zmm2,%zmm5,%zmm3
    15fe:	vmovdqa32 %zmm8,%zmm2
    1604:	vbroadcastss 0x0(%rip),%zmm25        # 160e <kelvin::avx512::normals(kelvin::Stream const&, unsigned long, float*, unsigned long)+0x160e>
    160e:	vfmadd213ps 0x0(%rip),%zmm10,%zmm16        # 1618 <kelvin::avx512::normals(kelvin::Stream const&, unsigned long, float*, unsigned long)+0x1618>
    1618:	vpternlogd $0xf8,%zmm9,%zmm3,%zmm2
    161f:	vcvtdq2ps %zmm2,%zmm2
    1625:	vandps 0x0(%rip),%zmm2,%zmm11        # 162f <kelvin::avx512::normals(kelvin::Stream const&, unsigned long, float*, unsigned long)+0x162f>
    162f:	vpsubd %zmm30,%zmm2,%zmm2
    1635:	vpord  0x448(%rsp),%zmm11,%zmm11
    1640:	vcvtdq2ps %zmm2,%zmm2
    1646:	vmovaps %zmm15,%zmm3
    164c:	vaddps 0x0(%rip),%zmm11,%zmm15        # 1656 <kelvin::avx512::normals(kelvin::Stream const&, unsigned long, float*, unsigned long)+0x1656>
    1656:	vsubps %zmm11,%zmm24,%zmm11
    165c:	vfmadd213ps 0x0(%rip),%zmm15,%zmm25        # 1666 <kelvin::avx512::normals(kelvin::Stream const&, unsigned long, float*, unsigned long)+0x1666>
    1666:	vfmadd213ps 0x0(%rip),%zmm10,%zmm3        # 1670 <kelvin::avx512::normals(kelvin::Stream const&, unsigned long, float*, unsigned long)+0x1670>
    1670:	vfmadd213ps 0x0(%rip),%zmm3,%zmm10        # 167a <kelvin::avx512::normals(kelvin::Stream const&, unsigned long, float*, unsigned long)+0x167a>
    167a:	vmulps %zmm15,%zmm11,%zmm11
    1680:	vmulps %zmm16,%zmm13,%zmm17
    1686:	vmovaps %zmm25,%zmm3
    168c:	vfmadd213ps 0x0(%rip),%zmm15,%zmm3        # 1696 <kelvin::avx512::normals(kelvin::Stream const&, unsigned long, float*, unsigned long)+0x1696>
    1696:	vfmadd213ps 0x0(%rip),%zmm15,%zmm3        # 16a0 <kelvin::avx512::normals(kelvin::Stream const&, unsigned long, float*, unsigned long)+0x16a0>
    16a0:	vpternlogd $0x78,%zmm18,%zmm20,%zmm10
    16a7:	vfmadd213ps 0x0(%rip),%zmm15,%zmm3        # 16b1 <kelvin::avx512::normals(kelvin::Stream const&, unsigned long, float*, unsigned long)+0x16b1>
    16b1:	vfmadd213ps 0x0(%rip),%zmm15,%zmm3        # 16bb <kelvin::avx512::normals(kelvin::Stream const&, unsigned long, float*, unsigned long)+0x16bb>
    16bb:	vfmadd213ps 0x0(%rip),%zmm15,%zmm3        # 16c5 <kelvin::avx512::normals(kelvin::Stream const&, unsigned long, float*, unsigned long)+0x16c5>
    16c5:	vfmadd213ps 0x0(%rip),%zmm15,%zmm3        # 16cf <kelvin::avx512::normals(kelvin::Stream const&, unsigned long, float*, unsigned long)+0x16cf>
    16cf:	vmovaps %zmm10,%zmm15
    16d5:	vmulps %zmm3,%zmm11,%zmm11
    16db:	vpandd %zmm20,%zmm12,%zmm3
    16e1:	vpandd %zmm22,%zmm12,%zmm12
    16e7:	vpcmpneqd %zmm14,%zmm3,%k1
    16ee:	vfmadd132ps 0x0(%rip),%zmm11,%zmm2        # 16f8 <kelvin::avx512::normals(kelvin::Stream const&, unsigned long, float*, unsigned long)+0x16f8>
    16f8:	vmulps %zmm16,%zmm13,%zmm15{%k1}
    16fe:	vmovdqa64 -0x78(%rsp),%zmm13
    1709:	vbroadcastss 0x0(%rip),%zmm16        # 1713 <kelvin::avx512::normals(kelvin::Stream const&, unsigned long, float*, unsigned long)+0x1713>
    1713:	vpcmpneqd %zmm14,%zmm12,%k1
    171a:	vsqrtps %zmm2,%zmm2
    1720:	vpternlogq $0x96,%zmm28,%zmm6,%zmm13
    1727:	vmulps %zmm15,%zmm2,%zmm11
    172d:	vmovaps %zmm15,%zmm3
    1733:	vpternlogd $0x96,%zmm10,%zmm17,%zmm3
    173a:	vmulps %zmm3,%zmm2,%zmm2
    1740:	vpsllq $0x20,%zmm13,%zmm3
    1747:	vpslld $0x2,%zmm22,%zmm13
    174e:	vcvtdq2ps %zmm13,%zmm13
    1754:	vmulps %zmm4,%zmm13,%zmm13
    175a:	vmovups %zmm11,0x100(%rcx)
    1761:	vmovups %zmm2,0x140(%rcx)
    1768:	vmovdqa64 0x8(%rsp),%zmm2
    1773:	vmulps %zmm13,%zmm13,%zmm10
    1779:	vpternlogq $0x96,%zmm29,%zmm6,%zmm2
    1780:	vfmadd213ps 0x0(%rip),%zmm10,%zmm16        # 178a <kelvin::avx512::normals(kelvin::Stream const&, unsigned long, float*, unsigned long)+0x178a>
    178a:	vpternlogq $0xf8,%zmm2,%zmm5,%zmm3
    1791:	vmovdqa32 %zmm8,%zmm2
    1797:	vfmadd213ps 0x0(%rip),%zmm10,%zmm16        # 17a1 <kelvin::avx512::normals(kelvin::Stream const&, unsigned long, float*, unsigned long)+0x17a1>
    17a1:	vpternlogd $0xf8,%zmm9,%zmm3,%zmm2
    17a8:	vbroadcastss 0x0(%rip),%zmm9        # 17b2 <kelvin::avx512::normals(kelvin::Stream const&, unsigned long, float*, unsigned long)+0x17b2>
    17b2:	vfmadd213ps 0x0(%rip),%zmm10,%zmm9        # 17bc <kelvin::avx512::normals(kelvin::Stream const&, unsigned long, float*, unsigned long)+0x17bc>
    17bc:	vcvtdq2ps %zmm2,%zmm2
    17c2:	vfmadd213ps 0x0(%rip),%zmm10,%zmm16        # 17cc <kelvin::avx512::normals(kelvin::Stream const&, unsigned long, float*, unsigned long)+0x17cc>
    17cc:	vandps 0x0(%rip),%zmm2,%zmm11        # 17d6 <kelvin::avx512::normals(kelvin::Stream const&, unsigned long, float*, unsigned long)+0x17d6>
    17d6:	vpsubd %zmm30,%zmm2,%zmm2
    17dc:	vpord  0x448(%rsp),%zmm11,%zmm11
    17e7:	vcvtdq2ps %zmm2,%zmm2
    17ed:	vmulps %zmm16,%zmm13,%zmm17
    17f3:	vmovaps %zmm9,%zmm3
    17f9:	vfmadd213ps 0x0(%rip),%zmm10,%zmm3        # 1803 <kelvin::avx512::normals(kelvin::Stream const&, unsigned long, float*, unsigned long)+0x1803>
    1803:	vfmadd213ps 0x0(%rip),%zmm3,%zmm10        # 180d <kelvin::avx512::normals(kelvin::Stream const&, unsigned long, float*, unsigned long)+0x180d>
    180d:	vaddps 0x0(%rip),%zmm11,%zmm15        # 1817 <kelvin::avx512::normals(kelvin::Stream const&, unsigned long, float*, unsigned long)+0x1817>
    1817:	vsubps %zmm11,%zmm24,%zmm11
    181d:	vbroadcastss 0x0(%rip),%zmm3        # 1827 <kelvin::avx512::normals(kelvin::Stream const&, unsigned long, float*, unsigned long)+0x1827>
    1827:	vfmadd213ps 0x0(%rip),%zmm15,%zmm3        # 1831 <kelvin::avx512::normals(kelvin::Stream const&, unsigned long, float*, unsigned long)+0x1831>
    1831:	vfmadd213ps 0x0(%rip),%zmm15,%zmm3        # 183b <kelvin::avx512::normals(kelvin::Stream const&, unsigned long, float*, unsigned long)+0x183b>
    183b:	vfmadd213ps 0x0(%rip),%zmm15,%zmm3        # 1845 <kelvin::avx512::normals(kelvin::Stream const&, unsigned long, float*, unsigned long)+0x1845>
    1845:	vfmadd213ps 0x0(%rip),%zmm15,%zmm3        # 184f <kelvin::avx512::normals(kelvin::Stream const&, unsigned long, float*, unsigned long)+0x184f>
    184f:	vfmadd213ps 0x0(%rip),%zmm15,%zmm3        # 1859 <kelvin::avx512::normals(kelvin::Stream const&, unsigned long, float*, unsigned long)+0x1859>
    1859:	vpternlogd $0x78,%zmm18,%zmm22,%zmm10
    1860:	vfmadd213ps 0x0(%rip),%zmm15,%zmm3        # 186a <kelvin::avx512::normals(kelvin::Stream const&, unsigned long, float*, unsigned long)+0x186a>
    186a:	vfmadd213ps 0x0(%rip),%zmm15,%zmm3        # 1874 <kelvin::avx512::normals(kelvin::Stream const&, unsigned long, float*, unsigned long)+0x1874>
    1874:	vmulps %zmm15,%zmm11,%zmm11
    187a:	vmulps %zmm3,%zmm11,%zmm11
    1880:	vmovaps %zmm10,%zmm3
    1886:	vfmadd132ps 0x0(%rip),%zmm11,%zmm2        # 1890 <kelvin::avx512::normals(kelvin::Stream const&, unsigned long, float*, unsigned long)+0x1890>
    1890:	vmulps %zmm16,%zmm13,%zmm3{%k1}
    1896:	vsqrtps %zmm2,%zmm2
    189c:	vmulps %zmm3,%zmm2,%zmm11
    18a2:	vpternlogd $0x96,%zmm10,%zmm17,%zmm3
    18a9:	vmulps %zmm3,%zmm2,%zmm2
    18af:	vmovups %zmm11,0x180(%rcx)
    18b6:	vmovups %zmm2,0x1c0(%rcx)
    18bd:	cmp    %r11,%r8
    18c0:	jb     30d <kelvin::avx512::normals(kelvin::Stream const&, unsigned long, float*, unsigned long)+0x30d>
    18c6:	vzeroupper
    18c9:	mov    -0x8(%rbp),%rbx
    18cd:	leave
    18ce:	ret
